// Sources/Dflat/Dflat.docc/ComingFromCoreData.md
import SQLiteDflat

func comingFromCoreData(dflat: SQLiteWorkspace) async throws {
  // block 2
}
