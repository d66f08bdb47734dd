// SQLiteSnapshot: one state of the data, kept as long as it is wanted.

import Dflat
import SQLiteAccess

/// A view that takes its state at the first read. It keeps a reader until it is closed.
final class SQLiteSnapshot: StorageSnapshot {
  private let engine: SQLiteEngine
  private let purpose: ReadPurpose
  private var lease: ReaderLease?
  private var view: PinnedView?
  /// Whether there was no file at the first read: then there is none for this snapshot.
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

  func explain(_ query: Query) throws -> QueryExplanation {
    guard let explanation = try reading({ try $0.explain(query) }) else {
      throw engine.missingFile
    }
    return explanation
  }

  /// nil if there is no file.
  private func reading<R: ~Copyable>(_ body: (SQLiteView) throws -> R) throws -> R? {
    guard let view = try open() else { return nil }
    let result = Result { try body(view) }
    // What was read without locks is no longer one state.
    if view.connection.isOutdated { throw engine.changedFile }
    return try result.get()
  }

  func close() {
    guard let view else { return }
    self.view = nil
    engine.snapshots.remove(self)
    // A read transaction that cannot be ended is given up with its connection.
    try? view.connection.rollback()
    lease?.end()
  }

  /// nil as long as there is no file.
  private func open() throws -> SQLiteView? {
    if isEmpty { return nil }
    if let view { return view }
    return try withStorageErrors {
      do {
        let lease = try engine.readers.checkout(beyondLimit: purpose != .query)
        if purpose == .query { engine.enterWALMode(before: lease.connection) }
        // An earlier one is as right as the present one, and asks nobody; what is verified in the state may then have to be verified
        // again.
        let generation = engine.foreignChanges.lastGeneration
        try lease.connection.begin(.deferred)
        self.lease = lease
        let view = PinnedView(engine, lease.connection, generation)
        self.view = view
        engine.snapshots.add(self, isTransaction: purpose == .transaction)
        return view
      } catch let error as SQLiteError where error.isNoSuchFile && !engine.configuration.isReadOnly
      {
        isEmpty = true
        return nil
      }
    }
  }
}

/// Reading in a state that was begun before.
private final class PinnedView: SQLiteView {
  private let generation: Int

  init(_ engine: SQLiteEngine, _ connection: Connection, _ generation: Int) {
    self.generation = generation
    super.init(engine, connection)
  }

  override func generationBeforeState() -> Int { generation }
}
