// Building indexes: the writer's part. `IndexStep` does the work of one step.

import Dflat
import SQLiteAccess

extension SQLiteWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table) {
      let table = try prepare(schema)
      let own = Set(schema.indexes.map(\.table))
      let wanted = table.sides.filter { own.contains($0.table.table) }
      var step = IndexStep(
        of: table, connection, engine,
        limits: IndexStep.Limits(stored: limit, read: try readLimit(wanted, table, limit)))
      let sides = try step.run(wanted)
      let progress = try fillElements(
        table, fillTexts(table, sides, limit: limit), limit: limit)
      // Side tables that are now complete must be kept complete by the writer.
      if progress.isFinished { tables.forget(schema) }
      engine.reports.deliver(
        .indexBuild(
          table: schema.table, filled: progress.filled, remaining: progress.remaining))
      return progress
    }
  }

  func confirmIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    tables.sameLength.end()
    return try withStorageErrors(table: schema.table) {
      guard let table = try tables.completeSides(of: schema, connection, engine) else {
        return IndexProgress(filled: 0, remaining: 0, blocked: [])
      }
      var step = IndexStep(
        of: table, connection, engine,
        limits: IndexStep.Limits(stored: limit, read: try readLimit(table.sides, table, limit)))
      let progress = try step.run(table.sides)
      // What the writer knows of the table, in any version of the type, has the earlier marks.
      tables.forget { $0.schema.table == schema.table }
      return progress
    }
  }

  /// How many rows a step may examine, which costs much less than storing them.
  ///
  /// A step examines all rows if it can store all that are missing: with few missing rows every
  /// index is complete after the first one.
  private func readLimit(
    _ sides: [WriterSide], _ table: WriterTable, _ limit: Int
  ) throws -> Int {
    let some = 20 * limit
    let objects = try count(table.schema.table)
    if objects > 20 * some { return some }
    let missing = try sides.reduce(0) { try $0 + max(0, objects - count($1.table.table)) }
    return missing > 0 && missing <= limit ? .max : some
  }

  private func count(_ table: String) throws -> Int {
    Int(try connection.value("SELECT count(*) FROM \(table.quoted)")?.integer ?? 0)
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
  /// Continues with the type's tables of elements.
  /// - Parameter progress: That of the other indexes, in the same step.
  private func fillElements(
    _ table: WriterTable, _ progress: IndexProgress, limit: Int
  ) throws -> IndexProgress {
    // Another table has the name, or a trigger names the table.
    let blocked = table.schema.elementIndexes.map(\.table).filter { name in
      !table.elements.contains { $0.table.table == name }
    }
    let progress = IndexProgress(
      filled: progress.filled, remaining: progress.remaining, blocked: progress.blocked + blocked)
    return try table.elements.reduce(progress) { progress, elements in
      let rest = try elements.fill(limit: max(0, limit - progress.filled), connection)
      return IndexProgress(
        filled: progress.filled + rest.filled,
        remaining: max(progress.remaining, rest.remaining), blocked: progress.blocked)
    }
  }
}
