// A full-text table as the writer knows it.
//
//  - An object up to `verified` has its row, and is kept right. Later objects have none, until a
//    step of the build reaches them.
//  - The table is only a help, so damage to it never makes a write fail: it is created anew, and
//    filled by a build.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

final class WriterFullText {
  let table: FullTextTable
  /// Up to which row the table is known to agree with the objects; see `IndexMarks`.
  private(set) var verified: Int64
  private let engine: SQLiteEngine
  @exclusivity(unchecked) private var insertion: KeptStatement
  @exclusivity(unchecked) private var removal: KeptStatement

  /// - Parameter verified: The mark in the file.
  init(_ table: FullTextTable, verified: Int64, _ engine: SQLiteEngine) {
    self.table = table
    self.verified = table.readers == nil ? IndexMarks.nothing : verified
    self.engine = engine
    insertion = KeptStatement(table.insert)
    removal = KeptStatement(table.remove)
  }

  /// Whether an object that is stored has a row.
  func covers(_ id: Int64) -> Bool { id <= verified }

  /// Whether changes of these fields may change its texts.
  func isAffected(by fields: FieldSet) -> Bool { !table.rootFields.isDisjoint(with: fields) }

  // MARK: Upkeep

  /// Adds a new object, if the table has all others.
  func insert(_ row: RowView, _ id: Int64, _ connection: Connection) throws {
    guard verified == IndexMarks.everything, let readers = table.readers else { return }
    try unlessDamaged(connection) { try add(SideValues(readers, row), id, connection) }
  }

  /// Replaces the texts of an object.
  func update(
    _ id: Int64, from old: RowView, to row: RowView, _ connection: Connection
  ) throws {
    guard covers(id), let readers = table.readers else { return }
    let values = SideValues(readers, row)
    if values.areSame(in: old) { return }
    try unlessDamaged(connection) {
      try remove(SideValues(readers, old), id, connection)
      try add(values, id, connection)
    }
  }

  /// Removes an object.
  /// - Parameter bytes: The object as it is stored.
  func delete(_ id: Int64, _ bytes: UnsafeRawBufferPointer, _ connection: Connection) throws {
    guard covers(id), let readers = table.readers else { return }
    try unlessDamaged(connection) {
      try remove(SideValues(readers, in: bytes), id, connection)
    }
  }

  private func add(_ values: SideValues, _ id: Int64, _ connection: Connection) throws {
    let statement = try insertion.on(connection)
    try statement.bind(1, id)
    try statement.bind(from: 2, values)
    try statement.run()
  }

  private func remove(_ values: SideValues, _ id: Int64, _ connection: Connection) throws {
    let statement = try removal.on(connection)
    try statement.bind(1, id)
    try statement.bind(from: 2, values)
    try statement.run()
  }

  // MARK: Building

  /// Adds objects that the table does not have yet.
  ///
  /// - Parameter limit: The largest number of objects to add.
  func fill(limit: Int, _ connection: Connection) throws -> IndexProgress {
    guard let readers = table.readers, verified != IndexMarks.everything else {
      return IndexProgress(filled: 0, remaining: 0, blocked: [])
    }
    let filled = try unlessDamaged(connection) { try add(readers, limit, connection) } ?? 0
    guard verified != IndexMarks.everything else {
      return IndexProgress(filled: filled, remaining: 0, blocked: [])
    }
    let end = try connection.value("SELECT max(rowid) FROM \(table.main.quoted)")
    return IndexProgress(
      filled: filled, remaining: Int(max(1, (end?.integer ?? 0) - max(verified, 0))), blocked: [])
  }

  /// Adds objects, and marks them.
  /// - Returns: Their number.
  private func add(
    _ readers: [IndexColumn], _ limit: Int, _ connection: Connection
  ) throws -> Int {
    if verified == IndexMarks.nothing { try connection.execute(table.empty) }
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(table.main.quoted) WHERE rowid > ? ORDER BY rowid")
    try rows.bind(1, verified)
    var filled = 0
    var last = verified
    while try rows.step() {
      if filled == limit {
        try mark(last, connection)
        return filled
      }
      last = rows.int64(0)
      try add(SideValues(readers, in: rows.blob(1)), last, connection)
      filled += 1
    }
    try mark(IndexMarks.everything, connection)
    return filled
  }

  /// Records up to which row the table agrees with the objects.
  func mark(_ last: Int64, _ connection: Connection) throws(SQLiteError) {
    verified = last
    try IndexMarks.set(last, of: table, main: table.main, connection)
  }

  // MARK: Damage

  /// Calls `body`. If the table turns out to be damaged, it is created anew, without rows.
  /// - Returns: nil if it is damaged.
  @discardableResult
  private func unlessDamaged<R>(_ connection: Connection, _ body: () throws -> R) throws -> R? {
    do { return try body() } catch let error as SQLiteError where error.mayBeDamage {
      engine.reports.reportOnce(
        StorageError(
          .corruptFile, table: table.table,
          message: "the full-text table is damaged: it is created and filled anew",
          underlying: error, path: error.path))
      insertion = KeptStatement(table.insert)
      removal = KeptStatement(table.remove)
      try table.recreate(connection)
      try mark(IndexMarks.nothing, connection)
      return nil
    }
  }
}

extension FullTextTable {
  /// Replaces the table by an empty one, whatever state it is in.
  func recreate(_ connection: Connection) throws(SQLiteError) {
    do { try connection.execute("DROP TABLE IF EXISTS \(table.quoted)") } catch {
      // FTS5 cannot open the table any more. It can again once it finds its settings and an empty
      // index; then it removes what is left.
      for shadow in shadowTables {
        try connection.execute("DROP TABLE IF EXISTS \(shadow.quoted)")
      }
      let settings = "\(table)_config".quoted
      try connection.execute("CREATE TABLE \(settings) (k PRIMARY KEY, v) WITHOUT ROWID")
      try connection.execute("INSERT INTO \(settings) VALUES ('version', 4)")
      let index = "\(table)_data".quoted
      try connection.execute("CREATE TABLE \(index) (id INTEGER PRIMARY KEY, block BLOB)")
      try connection.execute("INSERT INTO \(index) VALUES (1, x''), (10, x'00000000000000')")
      try connection.execute("DROP TABLE \(table.quoted)")
    }
    try connection.execute(create)
    _ = try IndexGuards.ensure(ownGuards, connection)
  }
}

extension SQLiteError {
  /// Whether FTS5 may have found that its tables are damaged or missing.
  var mayBeDamage: Bool { isCorrupt || code == .error }

  /// Whether this SQLite has no FTS5, or an older one without the tokenizer.
  var isMissingModule: Bool {
    message.contains("no such module") || message.contains("no such tokenizer")
  }
}
