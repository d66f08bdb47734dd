// SQLiteSnapshot: one state of the data that stays readable until the snapshot is closed.

import Dflat
import SQLiteAccess

/// A view that takes its state at the first read. It keeps a reader until it is closed.
final class SQLiteSnapshot: StorageSnapshot {
  private let engine: SQLiteEngine
  private let purpose: ReadPurpose
  private var lease: ReaderLease?
  private var view: PinnedView?
  /// Whether the file did not exist at the first read; it then never exists for this snapshot.
  private var isEmpty = false

  init(_ engine: SQLiteEngine, _ purpose: ReadPurpose) {
    self.engine = engine
    self.purpose = purpose
  }

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    try reading { try $0.rows(query, mark: mark) } ?? RowBuffer()
  }

  func row(of schema: EntitySchema, id: Int64) throws -> Row? {
    try reading { try $0.row(of: schema, id: id) } ?? nil
  }

  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? {
    try reading { try $0.row(of: schema, keyOf: row) } ?? nil
  }

  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer {
    try reading { try $0.rows(of: schema, after: id, limit: limit) } ?? RowBuffer()
  }

  func lastID(of schema: EntitySchema) throws -> Int64? {
    try reading { try $0.lastID(of: schema) } ?? nil
  }

  func scan(_ query: Query, _ body: (_ bytes: UnsafeRawBufferPointer) throws -> Bool) throws {
    _ = try reading { try $0.scan(query, body) }
  }

  func scanRows(
    _ query: Query, _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    _ = try reading { try $0.scanRows(query, body) }
  }

  func scanColumns(
    _ fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>) throws -> Bool
  ) throws -> Bool {
    try reading { try $0.scanColumns(fields, query, body) } ?? true
  }

  func countGroups(
    by fields: [FieldDescriptor], _ query: Query,
    _ body: (_ values: UnsafeBufferPointer<ColumnValue>, _ count: Int) throws -> Void
  ) throws -> Bool {
    try reading { try $0.countGroups(by: fields, query, body) } ?? true
  }

  func ids(_ query: Query) throws -> [Int64] { try reading { try $0.ids(query) } ?? [] }

  func count(_ query: Query) throws -> Int? {
    try reading { try $0.count(query) } ?? 0
  }

  func row(of schema: EntitySchema, with key: KeyValues) throws -> Row? {
    try reading { try $0.row(of: schema, with: key) } ?? nil
  }

  func id(of schema: EntitySchema, with key: KeyValues) throws -> Int64? {
    try reading { try $0.id(of: schema, with: key) } ?? nil
  }

  func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    try reading { try $0.ids(of: schema, with: keys) }
      ?? Array(repeating: nil, count: keys.count)
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    guard let explanation = try reading({ try $0.explain(query) }) else {
      throw StorageError.missingFile(engine.path)
    }
    return explanation
  }

  /// Calls `body` with the view; nil if there is no file.
  private func reading<R: ~Copyable>(_ body: (SQLiteView) throws -> R) throws -> R? {
    guard let view = try open() else { return nil }
    let result = Result { try body(view) }
    // The file was read without locks and has changed: the snapshot no longer sees a single state.
    if view.connection.isOutdated { throw engine.changedFile }
    return try result.get()
  }

  func close() {
    guard let view else { return }
    self.view = nil
    engine.session.snapshots.remove(self)
    // If the read transaction cannot be ended, its connection is closed anyway.
    try? view.connection.rollback()
    lease?.end()
  }

  /// The view; nil as long as there is no file.
  private func open() throws -> SQLiteView? {
    if isEmpty { return nil }
    if let view { return view }
    return try withStorageErrors {
      do {
        // Its owner may wait for another snapshot: none waits for a reader.
        let lease = try engine.readers.checkout(beyondLimit: true)
        if purpose == .query || purpose == .iteration {
          engine.session.enterWALMode(before: lease.connection)
        }
        // An earlier generation is as right as the current one and needs no query. At worst,
        // something is verified again in this state.
        let generation = engine.externalChanges.lastGeneration
        try lease.connection.begin(.deferred)
        self.lease = lease
        let view = PinnedView(engine, lease.connection, generation)
        self.view = view
        engine.session.snapshots.add(self, isTransaction: purpose == .transaction)
        return view
      } catch let error as SQLiteError where error.isNoSuchFile && !engine.configuration.isReadOnly
      {
        isEmpty = true
        return nil
      }
    }
  }
}

/// Reads in a state that was pinned before.
private final class PinnedView: SQLiteView {
  private let generation: Int

  init(_ engine: SQLiteEngine, _ connection: Connection, _ generation: Int) {
    self.generation = generation
    super.init(engine, connection)
  }

  override func generationBeforeState() -> Int { generation }
}
