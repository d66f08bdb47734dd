// The interface between Dflat and a storage engine.
//
// An engine stores rows under row ids, maintains keys and indexes, and answers queries. It knows
// schemas and rows as data, and no Swift entity types. Ordering, transactions and observation are
// built on top of it.
//
// An engine guarantees:
//
//  - A reader sees one committed state during `read`, and never waits for the writer.
//  - At most `capabilities.writersAtOnce` write transactions are open at a time, mostly one; the
//    write coordinator never opens more, and those that are open have no type in common. Their
//    changes are visible to readers after `commit` only.
//  - `insert`, `update` and `delete` are atomic. A conflict is thrown as `.alreadyExists` and
//    changes nothing.
//  - Row ids are never reused, unless a caller asks for one.
//
// Every engine implements `StorageEngine`, `StorageReader`, `StorageSnapshot` and `StorageWriter`.
// Optional features are in the protocols of OptionalProtocols.swift; all other differences are in a
// value, `EngineCapabilities`. No code above this interface asks which engine it works with. Every
// call that can throw may need a network round trip.

/// A storage engine.
package protocol StorageEngine: AnyObject, Sendable {
  /// What the engine can do. Constant.
  var capabilities: EngineCapabilities { get }
  /// What names the storage in this process: two engines with the same name have the same rows. nil
  /// if no other engine has them.
  var storageName: String? { get }
  /// Makes sure that the storage is writable, and creates it if it does not exist.
  func prepareForWriting() throws
  /// Calls `body` with a view of one committed state. Callable from any thread.
  ///
  /// - Parameters:
  ///   - purpose: Why the state is read. Only queries may be made to wait for other readers.
  ///   - body: Must not keep the view after it returns. It may be called again, as long as no
  ///     scan has given it a row.
  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R
  /// Returns the committed row with a primary key; nil if there is none. Callable from any thread.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - mark: The mark of the row.
  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row?
  /// Calls `body` with a row in the storage's own memory. A damaged row is thrown.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - body: Called with the row's id and bytes if there is such a row. It must neither keep the
  ///     bytes nor use the storage.
  func withRow(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws
  /// Creates a view that pins the committed state at its first read and keeps it until it is
  /// closed.
  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot
  /// Begins a write transaction. Waits for other connections if necessary.
  func beginWriting() throws -> any StorageWriter
  /// Begins a write transaction that no other connection can refuse: others wait for its end. An
  /// engine need not implement it; see ``EngineCapabilities/givesPrecedence``.
  func beginWritingWithPrecedence() throws -> any StorageWriter
  /// Begins a write transaction without waiting.
  /// - Returns: nil if it would have to wait.
  func beginWritingAtOnce() throws -> (any StorageWriter)?
  /// Whether `beginWritingAtOnce` is likely to succeed. Cheap, and only a hint.
  var canWriteAtOnce: Bool { get }
  /// Waits for readers and closes all connections. Called once, after the last transaction.
  func close() throws

  // Not implemented by engines; see OptionalProtocols.swift.

  /// The engine, if other connections can change its data.
  var asShared: (any SharedStorageEngine)? { get }
  /// The engine, if it needs maintenance.
  var asMaintained: (any MaintainedStorageEngine)? { get }
  /// The engine, if it fills indexes step by step.
  var asIndexBuilding: (any IndexBuildingStorageEngine)? { get }
  /// The engine, if it records which rows are changed.
  var asChangeRecording: (any ChangeRecordingStorageEngine)? { get }
}

extension StorageEngine {
  /// None, as for an engine with a storage of its own.
  package var storageName: String? { nil }

  /// An ordinary write transaction.
  package func beginWritingWithPrecedence() throws -> any StorageWriter { try beginWriting() }
}

/// Why a state is read.
package enum ReadPurpose: Sendable {
  /// A query of the program. It may wait for other queries.
  case query
  /// A query, or several ones, that were refused as conflicts several times. If the engine can, it
  /// waits for a state whose reads cannot be refused.
  case settledQuery
  /// A query of the program that goes on while the same thread makes others. It must not wait for
  /// other readers, which may be its own.
  case iteration
  /// A copy of everything that is committed. It takes no part in the order of transactions: any
  /// state between two commits is right, and no transaction may fail because of it.
  case copying
  /// A transaction, for which other readers may be waiting.
  case transaction
  /// Maintenance of observed results, for which transactions may be waiting.
  case observation
}

/// A constant state of the data, which is pinned by the first read. Every snapshot is closed, not
/// always by the thread that used it.
package protocol StorageSnapshot: AnyObject {
  /// Calls `body` with the view of the state.
  ///
  /// - Parameter body: Must not keep the view after it returns. If nothing was read before, it may
  ///   be called again, as long as no scan has given it a row.
  func read<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R
  /// Makes sure that what was read has its place in the order of all transactions. Called after the
  /// last read, before the program uses what it has read.
  func confirm() throws
  /// Releases the state.
  func close()
}

extension StorageSnapshot {
  /// Nothing, as for a storage that only needs the state itself.
  package func confirm() throws {}
}

/// A write transaction, and a view that includes its own changes.
///
/// Used by one thread at a time: by several, one after another, unless the engine binds it to one;
/// see ``EngineCapabilities/bindsWritersToThread``. Its end is `commit` or `rollback`, and nothing
/// is left to do when it is released, on any thread.
///
/// Errors of updates and deletions, and of the end of a subtransaction that is kept, may be thrown
/// by a later call. Nothing is committed before all of them are known.
package protocol StorageWriter: StorageReader {
  /// Stores a new row and returns its id.
  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64
  /// Stores a row under its own id, for a copy of what another storage has. No row has this id now;
  /// `insert` returns greater ids from then on.
  func insert(_ schema: EntitySchema, keepingIDOf row: Row) throws
  /// Stores a new row and returns its id, unless there is a row with its primary key. An engine
  /// need not implement it. The id that the row has now does not matter.
  /// - Returns: nil if there is such a row; then nothing was changed.
  func insert(_ schema: EntitySchema, unlessKnown row: Row) throws -> Int64?
  /// Replaces the row `old`, which was read in this transaction. Fields that are not in `fields`
  /// have the same values in both. Throws `.missing` if the row is not stored after all.
  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws
  /// Replaces the row with an id, if it is stored with the same key. An engine need not implement
  /// it.
  ///
  /// The id may be remembered from long ago. Since then another program may have replaced what is
  /// stored, so that another key has the id.
  /// - Parameters:
  ///   - schema: Its type.
  ///   - row: The row, with the id of the one to replace.
  ///   - fields: What may have changed.
  /// - Returns: Whether it is stored.
  func update(
    _ schema: EntitySchema, ifStored row: Row, changing fields: FieldSet
  ) throws -> Bool
  /// Removes a row if it exists.
  func delete(_ schema: EntitySchema, id: Int64) throws
  /// Removes rows. An engine need not implement it.
  func delete(_ schema: EntitySchema, ids: [Int64]) throws
  /// Begins a subtransaction. There is at most one at a time, and none if
  /// ``EngineCapabilities/canNest`` is false.
  func beginSubtransaction() throws
  /// Ends the subtransaction.
  ///
  /// - Parameter keeping: Whether its changes are kept. Otherwise they alone are rolled back.
  func endSubtransaction(keeping: Bool) throws
  /// False once the storage has rolled back the whole transaction by itself, as some storages do
  /// after some errors.
  var isAlive: Bool { get }
  /// Whether a transaction that is called now may share the commit of this one. False once the
  /// engine has shown a caller what others have committed since this one began: a later transaction
  /// must not see an older state. An engine need not implement it if no other connection can
  /// commit meanwhile. Called on any thread.
  var mayBeJoined: Bool { get }
  /// Makes all changes durable. If it throws, none are.
  func commit() throws
  /// The same. An engine whose calls return before they have waited for others implements it.
  /// - Parameter check: Called directly before the storage is asked to commit, when nothing else is
  ///   left to wait for. If it throws, nothing is stored.
  func commit(checking check: () throws -> Void) throws
  /// Rolls back all changes.
  func rollback()
  /// A token for what other connections have committed before this transaction. It is constant
  /// during the transaction. After `commit` it is the token of the committed state. nil if it
  /// cannot be known.
  ///
  /// A state that was read at an equal token, before the transaction began, differs from the stored
  /// state only by this engine's own changes.
  var token: CommitToken? { get }
}

/// Identifies what other connections have committed: between two equal tokens of one engine no
/// other connection has committed anything.
package struct CommitToken: Hashable, Sendable {
  private let number: Int

  /// Creates a token from a number that the engine chooses.
  package init(_ number: Int) { self.number = number }

  /// The only token of a storage that no other connection can change.
  package static let unshared = CommitToken(0)
}

extension StorageWriter {
  /// True.
  package var mayBeJoined: Bool { true }

  /// Calls `check`, and commits.
  package func commit(checking check: () throws -> Void) throws {
    do { try check() } catch {
      rollback()
      throw error
    }
    try commit()
  }

  /// Looks for the key before.
  package func insert(_ schema: EntitySchema, unlessKnown row: Row) throws -> Int64? {
    if try self.row(of: schema, keyOf: row) != nil { return nil }
    return try row.withBytes { try insert(schema, $0) }
  }

  /// Looks for the key before.
  package func update(
    _ schema: EntitySchema, ifStored row: Row, changing fields: FieldSet
  ) throws -> Bool {
    try updateFound(schema, row, changing: fields)
  }

  /// Looks for the key of a row, and replaces the row if it has its id.
  /// - Returns: Whether it is stored.
  package func updateFound(
    _ schema: EntitySchema, _ row: Row, changing fields: FieldSet
  ) throws -> Bool {
    guard let old = try self.row(of: schema, keyOf: row), old.id == row.id else { return false }
    try update(schema, from: old, to: row, changing: fields)
    return true
  }

  /// Removes the rows one by one.
  package func delete(_ schema: EntitySchema, ids: [Int64]) throws {
    for id in ids { try delete(schema, id: id) }
  }

  /// The token of a storage that no other connection can change.
  package var token: CommitToken? { .unshared }
}
