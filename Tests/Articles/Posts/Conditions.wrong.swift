// Sources/Dflat/Dflat.docc/Conditions.md
// error: both sides have one type
import SQLiteDflat

func wrongTypes(dflat: SQLiteWorkspace, count: Int) {
  // block 2
}
