// PostgresSnapshot: one state of the data that stays readable until the snapshot is closed.

import Dflat

/// A view that takes its state at the first read. It keeps a connection until it is closed.
///
/// That of a transaction can go on as its write transaction, except:
///
///  - Each connection of the workspace that is free to write has committed another one meanwhile:
///    both would write to the same row of the ledger.
///  - A table does not exist that it has read or is to write.
final class PostgresSnapshot: ChangeRecordingSnapshot, WritableSnapshot {
  private let engine: PostgresEngine
  private let purpose: ReadPurpose
  private var view: PostgresView?
  /// The workspace's last commits before the state, if the snapshot may go on as a write
  /// transaction.
  private var lastCommits: LastCommits?
  /// How often callers had been shown a state before this one.
  private var shownBefore = 0

  private var isInTransaction: Bool { purpose == .transaction }

  init(_ engine: PostgresEngine, _ purpose: ReadPurpose) {
    self.engine = engine
    self.purpose = purpose
  }

  func beginWriting(_ types: [EntitySchema]) throws -> (any StorageWriter)? {
    guard let view, !view.hasMissedTable, view.connection.isInTransaction, let lastCommits,
      types.allSatisfy({ view.completeColumns(of: engine.table(of: $0)) != nil }),
      let session = engine.sessions.take(after: lastCommits)
    else { return nil }
    self.view = nil
    return PostgresWriter(
      goingOnFrom: view, session, returningTo: engine.readers, shownBefore)
  }

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    try open().rows(query, mark: mark)
  }

  func row(of schema: EntitySchema, id: Int64) throws -> Row? { try open().row(of: schema, id: id) }

  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? {
    try open().row(of: schema, keyOf: row)
  }

  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer {
    try open().rows(of: schema, after: id, limit: limit)
  }

  func rows(of schema: EntitySchema, ids: [Int64]) throws -> RowBuffer {
    try open().rows(of: schema, ids: ids)
  }

  func recordedChanges(since point: ChangePoint?) throws -> RecordedChanges {
    let connection = try open().connection
    // Nothing was ever stored.
    if !connection.isInTransaction { return RecordedChanges(to: ChangePoint(""), nil) }
    return try withStorageErrors {
      try engine.system.log.changes(
        since: point, except: engine.workspace, connection)
    }
  }

  func lastID(of schema: EntitySchema) throws -> Int64? { try open().lastID(of: schema) }

  func scan(_ query: Query, _ body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool) throws {
    try open().scan(query, body)
  }

  func scanRows(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    try open().scanRows(query, body)
  }

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws -> Bool {
    try open().scanColumns(fields, query, body)
  }

  func ids(_ query: Query) throws -> [Int64] { try open().ids(query) }

  func count(_ query: Query) throws -> Int? { try open().count(query) }

  func row(of schema: EntitySchema, with key: KeyValues) throws -> Row? {
    try open().row(of: schema, with: key)
  }

  func id(of schema: EntitySchema, with key: KeyValues) throws -> Int64? {
    try open().id(of: schema, with: key)
  }

  func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    try open().ids(of: schema, with: keys)
  }

  func rows(of schema: EntitySchema, with keys: [KeyValues]) throws -> [Row?] {
    try open().rows(of: schema, with: keys)
  }

  func explain(_ query: Query) throws -> QueryExplanation { try open().explain(query) }

  func close() {
    guard let view else { return }
    self.view = nil
    // What a transaction has read counts if it never writes.
    if isInTransaction { engine.noteShownState() }
    // The server forgets what a transaction has read if it is rolled back.
    if view.connection.isInTransaction { _ = try? view.connection.execute("COMMIT") }
    engine.readers.putBack(view.connection)
  }

  /// The view, whose transaction begins here. A connection that has died in the pool is replaced.
  private func open() throws -> PostgresView {
    if let view { return view }
    var attempts = 3
    while true {
      attempts -= 1
      do {
        let connection = try engine.readers.take()
        do {
          // A workspace that has committed something writes to a server that can be written.
          lastCommits = isInTransaction ? engine.sessions.lastCommits : nil
          // See `ChangeLog`.
          let isolation: PostgresEngine.Isolation =
            lastCommits != nil
            ? .writable : purpose == .observation ? .repeatableRead : .serializable
          shownBefore = engine.shownCount
          let marks = try engine.beginReading(connection, isolation) ?? IndexMarks.none
          let view = PostgresView(
            engine, connection, marks: marks, isInTransaction: isInTransaction)
          self.view = view
          if !isInTransaction { engine.noteShownState() }
          return view
        } catch {
          engine.readers.putBack(connection)
          throw error
        }
      } catch is StorageClosed {
        throw StorageError(.closed, message: "the workspace was shut down")
      } catch let error as PostgresError {
        guard error.isConnectionLost || error.isConflict, attempts > 0 else {
          throw StorageError(error, isWriting: isInTransaction)
        }
        engine.readers.closeIdle()
      }
    }
  }
}
