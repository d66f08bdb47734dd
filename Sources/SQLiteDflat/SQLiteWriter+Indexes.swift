// Building side tables: a step of filling, and the repair of what other programs have left.
//
//  - A side table is filled in the order of row ids, so it is partial until it is complete, and never has a gap of ours.
//  - Before it is filled further it is made sure once that it has a row for each object up to its last one, and no other: rows
//    without an object are removed, holes are filled first.
//  - One that was filled by a version of the schema in which absent fields read as something else is dropped and filled anew.
//  - Where a unique value is there already, the table ends below the object that has it, and both objects are reported.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SQLiteWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table) {
      var table = try prepare(schema)
      let own = Set(schema.indexes.map(\.table))
      let outdated = table.sides.filter { $0.isOutdated && own.contains($0.table.table) }
      if !outdated.isEmpty {
        for side in outdated { try connection.execute("DROP TABLE \(side.table.table.quoted)") }
        tables.dropped(of: schema)
        table = try prepare(schema)
      }
      var step = FillingStep(self, table, limit: limit)
      for side in table.sides where side.reader != nil { try step.repair(side) }
      let progress = try step.fill()
      engine.tell(
        .indexBuild(
          table: schema.table, filled: progress.filled, remaining: progress.remaining))
      return progress
    }
  }
}

/// One step over all side tables of a type.
private struct FillingStep {
  private let writer: SQLiteWriter
  private let connection: Connection
  private let table: WriterTable
  private let limit: Int
  private var filled = 0
  private var blocked: [String] = []

  init(_ writer: SQLiteWriter, _ table: WriterTable, limit: Int) {
    self.writer = writer
    self.table = table
    self.limit = limit
    connection = writer.connection
  }

  // MARK: Repair

  mutating func repair(_ side: WriterSide) throws {
    let name = side.table.table
    if side.reach == 0 || writer.tables.isRepaired(name) { return }
    let main = table.schema.table.quoted
    if try !IndexHealth.hasSameRows(name, table.schema.table, through: side.reach, connection) {
      try connection.execute(
        "DELETE FROM \(name.quoted) WHERE rowid NOT IN (SELECT rowid FROM \(main))")
      let holes = try connection.statement(
        "SELECT m.rowid, m.p FROM \(main) AS m LEFT JOIN \(name.quoted) AS s ON s.rowid = m.rowid "
          + "WHERE s.rowid IS NULL AND m.rowid < ? ORDER BY m.rowid")
      try holes.bind(1, side.reach)
      while try holes.step() {
        if filled == limit { return }
        // What contradicts a unique index ends it.
        guard try store(holes.blob(1), holes.int64(0), in: side) else {
          return try side.truncate(from: holes.int64(0), connection)
        }
      }
    }
    writer.tables.repaired(name)
  }

  // MARK: Filling

  mutating func fill() throws -> IndexProgress {
    var open = table.sides.filter {
      $0.reader != nil && !$0.isComplete && writer.tables.isRepaired($0)
    }
    if filled == limit { return try progress(open) }
    guard let start = open.map(\.reach).min() else { return try progress(open) }
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(table.schema.table.quoted) WHERE rowid > ? ORDER BY rowid")
    try rows.bind(1, start)
    while try rows.step() {
      let id = rows.int64(0)
      if filled + open.count(where: { $0.reach < id }) > limit { return try progress(open) }
      for side in open where side.reach < id {
        if try store(rows.blob(1), id, in: side) { side.reach = id } else { side.isBlocked = true }
      }
      open.removeAll(where: \.isBlocked)
      if open.isEmpty { break }
    }
    for side in open { writer.foundSound(side.table.trustKey, after: nil) }
    writer.tables.forget(table.schema)
    return IndexProgress(filled: filled, remaining: 0, blocked: blocked)
  }

  private func progress(_ open: [WriterSide]) throws -> IndexProgress {
    let last = try connection.value("SELECT max(rowid) FROM \(table.schema.table.quoted)")
    let reach = open.map(\.reach).min() ?? 0
    let isOpen =
      open.contains { !$0.isComplete }
      || table.sides.contains { $0.reader != nil && !writer.tables.isRepaired($0) }
    let remaining = isOpen ? max(1, Int((last?.integer ?? 0) - reach)) : 0
    return IndexProgress(filled: filled, remaining: remaining, blocked: blocked)
  }

  /// Stores an object's value.
  /// - Returns: False if another object has the value, which is unique.
  private mutating func store(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, in side: WriterSide
  ) throws -> Bool {
    guard let reader = side.reader else { return false }
    // A damaged object has no values.
    let value = RowView(root: bytes).map(reader.read) ?? .null
    do {
      let statement = try side.insert.on(connection)
      try statement.bind(1, id)
      try statement.bind(2, column: value)
      try statement.run()
      filled += 1
      return true
    } catch let error as SQLiteError where error.isUniqueConstraint {
      try report(value, id, side)
      return false
    }
  }

  private mutating func report(_ value: ColumnValue, _ id: Int64, _ side: WriterSide) throws {
    let name = side.table.table
    blocked.append(name)
    let statement = try connection.statement(
      "SELECT rowid FROM \(name.quoted) WHERE \(side.table.column.quoted) = ?")
    try statement.bind(1, column: value)
    let other = try statement.step() ? statement.int64(0) : id
    writer.engine.reportOnce(
      StorageError(
        .alreadyExists, table: name, rowid: id, key: "\(side.table.column): \(value)",
        message:
          "the objects in rows \(other) and \(id) have the same value of a field that has become "
          + "unique: its index ends below row \(id); both stay, and new objects with equal values are refused"
      ))
  }
}
