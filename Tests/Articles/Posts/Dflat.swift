// Sources/Dflat/Dflat.docc/Dflat.md
import SQLiteDflat

func overview(dflat: SQLiteWorkspace) {
  // block 1
}
