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
      let sides = try step.run(table.sides.filter { own.contains($0.table.table) })
      let progress = try fillTexts(table, sides, limit: limit)
      // Side tables that are now complete must be kept complete by the writer.
      if progress.isFinished { tables.forget(schema) }
      engine.reports.deliver(
        .indexBuild(
          table: schema.table, filled: progress.filled, remaining: progress.remaining))
      return progress
    }
  }

  /// Continues with the type's full-text table.
  /// - Parameter progress: That of the other indexes, in the same step.
  private func fillTexts(
    _ table: WriterTable, _ progress: IndexProgress, limit: Int
  ) throws -> IndexProgress {
    guard let name = table.schema.fullText?.table,
      let fullText = table.fullTexts.first(where: { $0.table.table == name })
    else { return progress }
    if try engine.fullTexts.isDamaged(name, on: connection) {
      try fullText.mark(IndexMarks.nothing, connection)
    }
    let rest = try fullText.fill(limit: max(0, limit - progress.filled), connection)
    return IndexProgress(
      filled: progress.filled + rest.filled, remaining: max(progress.remaining, rest.remaining),
      blocked: progress.blocked)
  }
}
