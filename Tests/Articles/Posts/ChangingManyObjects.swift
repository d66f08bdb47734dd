// Sources/Dflat/Dflat.docc/ChangingManyObjects.md
import SQLiteDflat

func changingMany(dflat: SQLiteWorkspace, ids: [String]) async throws {
  // block 1
  // block 2
}
