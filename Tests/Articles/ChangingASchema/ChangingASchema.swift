// Sources/Dflat/Dflat.docc/ChangingASchema.md
import SQLiteDflat
import Testing

func migrating(dflat: SQLiteWorkspace) async throws {
  // block 1
  // block 2
  // block 3
}

func chained(v1ToV2: Migration<V1.Post, V2.Post>, v2ToV3: Migration<V2.Post, V3.Post>) {
  // block 4
}
