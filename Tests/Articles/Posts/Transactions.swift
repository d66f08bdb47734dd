// Sources/Dflat/Dflat.docc/Transactions.md
import SQLiteDflat

func transactions(dflat: SQLiteWorkspace) async throws {
  // block 1
  // block 2
  func reading() throws {
    // block 5
  }
  // block 4
}

func synchronous(dflat: SQLiteWorkspace) throws {
  // block 3
}

func finding(dflat: SQLiteWorkspace) {
  // block 6
}

// block 7

func reverting(dflat: SQLiteWorkspace, post: Post) async throws {
  // block 8
}
