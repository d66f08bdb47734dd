// Index step: makes side tables agree with the objects, from the first row that is not verified.
//
//  - Objects are visited in the order of row ids, for all side tables at once. A missing row is
//    stored, a wrong value is corrected, and a row without an object is removed. So a step never
//    leaves a gap in a side table, and a side table that another program has completed stays
//    complete meanwhile.
//  - Progress is recorded in the file (`IndexMarks`): the next step, or the next program, continues
//    from there.
//  - If unique values already belong to another object, the side table ends below the second one,
//    and both objects are reported.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

struct IndexStep {
  /// The limits of one step.
  struct Limits {
    /// Rows to store.
    let stored: Int
    /// Rows to examine.
    let read: Int

    static let none = Limits(stored: .max, read: .max)

    init(stored: Int, read: Int) {
      self.stored = stored
      self.read = read
    }
  }

  private let table: WriterTable
  private let connection: Connection
  private let engine: SQLiteEngine
  private let limits: Limits
  private var stored = 0
  private var read = 0
  private var blocked: [WriterSide] = []

  init(
    of table: WriterTable, _ connection: Connection, _ engine: SQLiteEngine, limits: Limits
  ) {
    self.table = table
    self.connection = connection
    self.engine = engine
    self.limits = limits
  }

  /// Continues with those side tables of the type that the schema can read.
  mutating func run(_ sides: [WriterSide]) throws -> IndexProgress {
    let open = sides.filter { $0.readers != nil && $0.verified != IndexMarks.everything }
      .map { OpenSide(side: $0, first: IndexMarks.first(behind: $0.verified), reach: $0.reach) }
    guard let start = open.map(\.first).min() else {
      return IndexProgress(filled: 0, remaining: 0, blocked: [])
    }
    let last = try walk(open, from: start)
    for side in open where !isBlocked(side) && side.first <= last {
      try verified(side, through: last)
    }
    return IndexProgress(
      filled: stored, remaining: last == IndexMarks.everything ? 0 : try countBehind(last),
      blocked: blocked.map(\.table.table))
  }

  /// A side table as it was before the step.
  private struct OpenSide {
    let side: WriterSide
    /// The first row that was not verified.
    let first: Int64
    let reach: Int64
  }

  /// Stores missing rows and corrects wrong ones.
  /// - Returns: The last row that was processed, or `everything`.
  private mutating func walk(_ sides: [OpenSide], from start: Int64) throws -> Int64 {
    var open = sides
    var last = IndexMarks.verified(below: start)
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(table.schema.table.quoted) WHERE rowid >= ? ORDER BY rowid")
    try rows.bind(1, start)
    while try rows.step() {
      let id = rows.int64(0)
      let most = open.count { $0.first <= id }
      if most > limits.stored - stored || most > limits.read - read { return last }
      for item in open where item.first <= id {
        guard let readers = item.side.readers else { continue }
        let bytes = rows.object(1, of: table.schema)
        let values = SideValues(readers, in: bytes)
        if try !settle(values, bytes, id, in: item.side) { try block(item, at: id, values) }
      }
      open.removeAll(where: isBlocked)
      if open.isEmpty { break }
      last = id
    }
    return IndexMarks.everything
  }

  /// Corrects one row of a side table.
  /// - Returns: False if another object has the same unique values.
  private mutating func settle(
    _ values: SideValues, _ bytes: UnsafeRawBufferPointer, _ id: Int64, in side: WriterSide
  ) throws -> Bool {
    read += 1
    if side.covers(id), try holds(values, bytes, id, in: side) { return true }
    stored += 1
    do {
      try store(values, id, in: side)
    } catch let error as SQLiteError where error.isUniqueConstraint {
      if try owner(of: values, in: side) != nil { return false }
      // A row that has these values wrongly is corrected when it is visited, or removed.
      try side.vacate(values, connection)
      try store(values, id, in: side)
    }
    side.reach = max(side.reach, id)
    return true
  }

  /// Whether there is a row with the right values. For a damaged object any values count as right.
  private func holds(
    _ values: SideValues, _ bytes: UnsafeRawBufferPointer, _ id: Int64, in side: WriterSide
  ) throws -> Bool {
    let statement = try connection.uniqueStatement(side.table.select)
    try statement.bind(1, id)
    return try statement.step()
      && (statement.holds(values, from: 0) || table.schema.isDamaged(bytes))
  }

  private func store(
    _ values: SideValues, _ id: Int64, in side: WriterSide
  ) throws {
    let statement =
      side.covers(id) ? try side.upsert.on(connection) : try side.insert.on(connection)
    try statement.bind(1, id)
    try statement.bind(from: 2, values)
    try statement.run()
  }

  /// The object that has certain values, according to a row of the side table and confirmed by its
  /// bytes.
  private func owner(of values: SideValues, in side: WriterSide) throws -> Int64? {
    let statement = try connection.statement(side.table.selectOwner)
    try statement.bind(from: 1, values)
    guard try statement.step(), let row = RowView(root: statement.object(1, of: table.schema)),
      values.areSame(in: row)
    else { return nil }
    return statement.int64(0)
  }

  // MARK: The end of a step

  /// Marks everything up to a row as verified.
  private func verified(_ item: OpenSide, through last: Int64) throws {
    // Rows beyond its former reach were stored just now.
    if item.side.isComplete || item.first <= item.reach {
      try removeOrphans(of: item, through: item.side.isComplete ? last : min(last, item.reach))
    }
    item.side.verified = last
    try IndexMarks.set(last, of: item.side.table, main: table.schema.table, connection)
  }

  private func removeOrphans(of item: OpenSide, through last: Int64) throws {
    let side = item.side.table.table.quoted
    try connection.execute(
      "DELETE FROM \(side) WHERE rowid >= ? AND rowid <= ? AND NOT EXISTS "
        + "(SELECT 1 FROM \(table.schema.table.quoted) AS m WHERE m.rowid = \(side).rowid)",
      [.integer(item.first), .integer(last)])
  }

  /// An upper bound for the number of remaining objects.
  private func countBehind(_ last: Int64) throws -> Int {
    let end = try connection.value("SELECT max(rowid) FROM \(table.schema.table.quoted)")
    return Int(max(1, (end?.integer ?? 0) - max(last, 0)))
  }

  // MARK: Duplicate values

  private func isBlocked(_ item: OpenSide) -> Bool { blocked.contains { $0 === item.side } }

  /// Ends the side table below an object whose values belong to another one.
  private mutating func block(_ item: OpenSide, at id: Int64, _ values: SideValues) throws {
    let side = item.side
    let other = try owner(of: values, in: side) ?? id
    blocked.append(side)
    engine.reports.reportOnce(
      StorageError(
        .alreadyExists, table: side.table.main, rowid: id,
        key: values.row.map(side.table.describe),
        message:
          "the objects in rows \(other) and \(id) have equal values of \(side.table.name), "
          + "which has become unique: its index ends below row \(id); both stay, and new objects with equal values are refused"
      ))
    try side.truncate(from: id, connection)
    if item.first < id { try verified(item, through: id - 1) }
  }
}
