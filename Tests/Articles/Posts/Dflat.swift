// Sources/Dflat/Dflat.docc/Dflat.md
import SQLiteDflat

func overview(dflat: SQLiteWorkspace) async throws {
  // block 1
}
