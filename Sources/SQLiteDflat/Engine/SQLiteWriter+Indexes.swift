// Building indexes: the writer's part. What a step does is in `IndexStep`.

import Dflat
import SQLiteAccess

extension SQLiteWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table) {
      let table = try prepare(schema)
      let own = Set(schema.indexes.map(\.table))
      // To look at a row costs much less than to store one.
      var step = IndexStep(
        of: table, connection, engine,
        limits: IndexStep.Limits(stored: limit, read: 20 * limit))
      let progress = try step.run(table.sides.filter { own.contains($0.table.table) })
      // Side tables that are complete now are to be kept up.
      if progress.isFinished { tables.forget(schema) }
      engine.tell(
        .indexBuild(
          table: schema.table, filled: progress.filled, remaining: progress.remaining))
      return progress
    }
  }
}
