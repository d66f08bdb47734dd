// Sources/Dflat/Dflat.docc/Searching.md
import SQLiteDflat

func searching(dflat: SQLiteWorkspace, yesterday: Int64) {
  // block 2
}

func searching(dflat: SQLiteWorkspace) throws {
  // block 3
}
