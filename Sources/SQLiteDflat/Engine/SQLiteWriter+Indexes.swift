// Building indexes: the writer's part. `IndexStep` does the work of one step.

import Dflat
import SQLiteAccess

extension SQLiteWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table) {
      let table = try prepare(schema)
      let own = Set(schema.indexes.map(\.table))
      // Examining a row costs much less than storing one.
      var step = IndexStep(
        of: table, connection, engine,
        limits: IndexStep.Limits(stored: limit, read: 20 * limit))
      let progress = try step.run(table.sides.filter { own.contains($0.table.table) })
      // Side tables that are now complete must be kept complete by the writer.
      if progress.isFinished { tables.forget(schema) }
      engine.reports.deliver(
        .indexBuild(
          table: schema.table, filled: progress.filled, remaining: progress.remaining))
      return progress
    }
  }
}
