// Sources/Dflat/Dflat.docc/AskingForLess.md
import SQLiteDflat

func asking(dflat: SQLiteWorkspace) async throws {
  // block 1.1
  func answers() throws {
    // block 1.2
  }
  // block 2
  // block 3
  // block 4
  // block 5
  // block 6
  // block 7
  func live() async throws {
    // block 8
  }
}
