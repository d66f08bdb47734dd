// Sources/Dflat/Dflat.docc/UsingIndexes.md
import SQLiteDflat

func usingIndexes(dflat: SQLiteWorkspace) {
  // block 2
}

func explaining(_ posts: ObjectQuery<Post>) throws {
  // block 3
}
