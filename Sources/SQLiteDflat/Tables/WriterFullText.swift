// A full-text table as the writer knows it.
//
//  - An object up to `verified` has its row, and is kept right. Later objects have none, until a
//    step of the build reaches them.
//  - The table is only a help, so damage to it never makes a write fail: nothing of it is trusted
//    any more, `PendingTexts` replaces it, and a build fills it.
//  - A build that begins replaces the table, whatever it contains.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

final class WriterFullText {
  let table: FullTextTable
  /// Up to which row the table is known to agree with the objects; see `IndexMarks`.
  private(set) var verified: Int64
  /// What FTS5 has found; nil if the table does not seem to be damaged.
  private(set) var damage: StorageError?
  /// How many rows FTS5 has written to the table of the rows during the current change.
  var rowChanges = 0
  private let pending: PendingTexts
  private let engine: SQLiteEngine
  @exclusivity(unchecked) private var insertion: KeptStatement
  @exclusivity(unchecked) private var removal: KeptStatement
  /// The tokens of a text, in memory that is used again.
  @exclusivity(unchecked) private var tokens: [UInt8] = []

  /// - Parameter verified: The mark in the file.
  init(
    _ table: FullTextTable, verified: Int64, _ pending: PendingTexts, _ engine: SQLiteEngine
  ) {
    self.table = table
    self.verified = table.readers == nil ? IndexMarks.nothing : verified
    self.pending = pending
    self.engine = engine
    insertion = KeptStatement(table.insert)
    removal = KeptStatement(table.remove)
  }

  /// Whether an object that is stored has a row.
  func covers(_ id: Int64) -> Bool { id <= verified && verified != IndexMarks.nothing }

  /// Whether changes of these fields may change its texts.
  func isAffected(by fields: FieldSet) -> Bool { !table.rootFields.isDisjoint(with: fields) }

  // MARK: Upkeep

  /// Adds a new object, if the table has all others, or those with greater ids.
  func insert(_ row: RowView, _ id: Int64, _ connection: Connection) throws {
    guard covers(id), let readers = table.readers else { return }
    try write(connection) { try add(SideValues(readers, row), id, connection) }
  }

  /// Replaces the texts of an object.
  func update(
    _ id: Int64, from old: RowView, to row: RowView, _ connection: Connection
  ) throws {
    guard covers(id), let readers = table.readers else { return }
    let values = SideValues(readers, row)
    if values.areSame(in: old) { return }
    try write(connection) {
      try remove(SideValues(readers, old), id, connection)
      try add(values, id, connection)
    }
  }

  /// Removes an object.
  /// - Parameter bytes: The object as it is stored.
  func delete(_ id: Int64, _ bytes: UnsafeRawBufferPointer, _ connection: Connection) throws {
    guard covers(id), let readers = table.readers else { return }
    try write(connection) {
      try remove(SideValues(readers, in: bytes), id, connection)
    }
  }

  private func add(_ values: SideValues, _ id: Int64, _ connection: Connection) throws {
    try run(try insertion.on(connection), values, id)
  }

  private func remove(_ values: SideValues, _ id: Int64, _ connection: Connection) throws {
    try run(try removal.on(connection), values, id)
  }

  private func run(_ statement: Statement, _ values: SideValues, _ id: Int64) throws {
    try statement.bind(1, id)
    if table.isGivenTokens {
      try bindTokens(of: values, to: statement)
    } else {
      try statement.bind(from: 2, values)
    }
    try statement.run()
    rowChanges += 1
  }

  private func bindTokens(of values: SideValues, to statement: Statement) throws {
    for (place, column) in values.readers.enumerated() {
      guard let row = values.row else {
        try statement.bindNull(2 + place)
        continue
      }
      try column.withValue(of: row) { value in
        guard case .text(let text) = value else {
          try statement.bindNull(2 + place)
          return
        }
        table.tokenizers[place].writeTokens(of: text, to: &tokens)
        try tokens.withUnsafeBytes { try statement.bindText(2 + place, copying: $0) }
      }
    }
  }

  /// Records up to which row the table agrees with the objects.
  func mark(_ last: Int64, _ connection: Connection) throws(SQLiteError) {
    verified = last
    try IndexMarks.set(last, of: table, main: table.main, connection)
  }

  // MARK: Building

  /// The most bytes of objects whose texts a step adds.
  private static let bytesPerStep = 4 << 20

  /// Adds objects that the table does not have yet.
  ///
  /// - Parameter limit: The largest number of objects to add.
  func fill(limit: Int, _ connection: Connection) throws -> IndexProgress {
    guard let readers = table.readers, verified != IndexMarks.everything else {
      return IndexProgress(filled: 0, remaining: 0, blocked: [])
    }
    var filled = 0
    if limit > 0 {
      if verified == IndexMarks.nothing { try recreate(connection) }
      filled = try add(readers, limit, connection)
      try write(connection) { try pending.flush(connection) }
      if let damage {
        // The step is undone, so that a build does not begin anew without end.
        engine.fullTexts.noteDamaged(table.table, at: try connection.schemaVersion())
        throw damage
      }
      if verified == IndexMarks.everything {
        return IndexProgress(filled: filled, remaining: 0, blocked: [])
      }
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
    let rows = try connection.statement(
      "SELECT rowid, p FROM \(table.main.quoted) WHERE rowid >= ? ORDER BY rowid")
    try rows.bind(1, IndexMarks.first(behind: verified))
    var (filled, bytes) = (0, 0)
    var last = verified
    while try rows.step() {
      if last != IndexMarks.nothing, filled == limit || bytes > Self.bytesPerStep {
        try mark(last, connection)
        return filled
      }
      last = rows.int64(0)
      let object = rows.object(1, of: table.schema)
      try write(connection) { try add(SideValues(readers, in: object), last, connection) }
      if damage != nil { return filled }
      filled += 1
      bytes += object.count
    }
    try mark(IndexMarks.everything, connection)
    return filled
  }

  // MARK: Damage

  /// Calls `body`, in which FTS5 writes. If it finds that the table is damaged, that is noted.
  private func write(_ connection: Connection, _ body: () throws -> Void) throws {
    pending.add(self)
    do { try body() } catch let error as SQLiteError where error.mayBeDamage {
      try distrust(error, connection)
    }
  }

  /// Notes that the table may be damaged: from now on nothing of it is trusted.
  func distrust(_ error: SQLiteError, _ connection: Connection) throws(SQLiteError) {
    damage = StorageError(
      .corruptFile, table: table.table,
      message: "the full-text table is damaged: it is replaced and filled again",
      underlying: error, path: error.path)
    try mark(IndexMarks.nothing, connection)
  }

  /// Replaces the damaged table by an empty one. Call it while no query runs.
  func replace(_ connection: Connection) throws(SQLiteError) {
    let version = try connection.schemaVersion()
    do {
      // FTS5 forgets the words that it cannot write.
      _ = try table.unlessRefused { () throws(SQLiteError) in try connection.execute(table.empty) }
      try recreate(connection)
    } catch {
      // The transaction fails. The next one leaves the table alone.
      engine.fullTexts.noteDamaged(table.table, at: version)
      throw error
    }
    if let damage { engine.reports.reportOnce(damage) }
  }

  private func recreate(_ connection: Connection) throws(SQLiteError) {
    insertion = KeptStatement(table.insert)
    removal = KeptStatement(table.remove)
    try table.recreate(connection)
  }
}

extension FullTextTable {
  /// Replaces the table by an empty one, whatever state it is in.
  func recreate(_ connection: Connection) throws(SQLiteError) {
    do { try connection.execute("DROP TABLE IF EXISTS \(table.quoted)") } catch {
      guard error.mayBeDamage else { throw error }
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
