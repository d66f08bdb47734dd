// The seam between Dflat and a storage engine.
//
// An engine stores rows under row ids, keeps keys and indexes beside them, and answers queries. It knows schemas and rows as
// data and no user's types. Above the seam stand order, transactions and observation.
//
// An engine keeps true:
//
//  - a reader sees one committed state during `read`, and never waits for the writer;
//  - at most one write transaction is open at a time, since the write coordinator opens no second one; what it wrote is visible
//    to readers after `commit` only;
//  - `insert`, `update` and `delete` do all or nothing; a conflict is thrown as `.alreadyExists` and changes nothing;
//  - row ids are never used again.
//
// Every engine implements `StorageEngine`, `StorageReader`, `StorageSnapshot` and `StorageWriter`. What only some can do is in the
// protocols of OptionalProtocols.swift; how engines differ otherwise is a value, `EngineCapabilities`. Nothing above the seam asks
// which engine it works with. A network round trip may stand behind every call that can throw.

/// A storage engine.
public protocol StorageEngine: AnyObject, Sendable {
  /// What it can do. It stays the same.
  var capabilities: EngineCapabilities { get }
  /// Makes sure that the storage can be written, creating it if it does not exist.
  func prepareForWriting() throws
  /// Calls `body` with a view of one committed state. Any thread may call.
  ///
  /// - Parameters:
  ///   - purpose: Who reads. Only queries may be made to wait for other readers.
  ///   - body: It must not keep the view beyond its end.
  func read<R: ~Copyable>(
    for purpose: ReadPurpose, _ body: (any StorageReader) throws -> R
  ) throws -> R
  /// The row with a primary key, in the committed state; nil if there is none. Any thread may call.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - mark: What the row carries.
  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row?
  /// The same, in the storage's own memory. A damaged row is reported and passed over.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - body: Called with the row's id and bytes if there is one. It must not keep the bytes, nor use the storage.
  func withRow(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws
  /// A view that takes the committed state at its first read and keeps it until it is closed.
  func makeSnapshot(for purpose: ReadPurpose) -> any StorageSnapshot
  /// Begins a write transaction, after waiting for other connections where that is necessary.
  func beginWriting() throws -> any StorageWriter
  /// Begins a write transaction without waiting.
  /// - Returns: nil if it would have to wait.
  func beginWritingAtOnce() throws -> (any StorageWriter)?
  /// Whether `beginWritingAtOnce` is likely to succeed. Cheap, and only a hint.
  var canWriteAtOnce: Bool { get }
  /// Waits for readers and closes everything. Called once, after the last transaction.
  func close() throws
}

/// Who reads.
public enum ReadPurpose: Sendable {
  /// A query of the program. It may wait for other queries.
  case query
  /// A transaction, for which other readers may be waiting.
  case transaction
  /// The upkeep of observed results, for which transactions may be waiting.
  case observation
}

/// A view of one state. Used by one thread at a time.
public protocol StorageReader: AnyObject {
  /// The result of a query; rows carry `mark`. Empty if the storage or the table does not exist.
  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer
  /// The row with an id.
  func row(of schema: EntitySchema, id: Int64) throws -> Row?
  /// The row with the primary key that `row` has.
  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row?
  /// The rows of a type whose ids are greater than `id`, in the order of ids. Damaged ones are left out.
  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer
  /// The greatest row id of a type; nil if it has no rows.
  func lastID(of schema: EntitySchema) throws -> Int64?
  /// How a query would be answered.
  func explain(_ query: Query) throws -> QueryExplanation
}

/// A view that stays the same. Every snapshot is closed, on the thread that used it.
public protocol StorageSnapshot: StorageReader {
  /// Lets go of the state.
  func close()
}

/// A write transaction, with a view of its own changes.
public protocol StorageWriter: StorageReader {
  /// Stores a new row and returns its id.
  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64
  /// Replaces the stored row, which is `old`. Fields that are not among `fields` have the same values in both.
  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws
  /// Removes a row, if it is there.
  func delete(_ schema: EntitySchema, id: Int64) throws
  /// Begins a subtransaction. There is one at a time, and none where ``EngineCapabilities/canNest`` is false.
  func beginSubtransaction() throws
  /// Ends the subtransaction.
  ///
  /// - Parameter keeping: Whether what was written in it is kept. Otherwise it is undone, and nothing before it.
  func endSubtransaction(keeping: Bool) throws
  /// False once the storage has rolled back the whole transaction by itself, as some do after some errors.
  var isAlive: Bool { get }
  /// Makes everything that was written durable. If it throws, nothing was.
  func commit() throws
  /// Undoes everything that was written.
  func rollback()
  /// What other connections have committed before this transaction. It stays the same during the transaction; after `commit` it is
  /// that of the state which was committed. nil if it cannot be known.
  ///
  /// A state that was read at an equal token, before the transaction began, is what is stored now but for this engine's own changes.
  var token: CommitToken? { get }
}

/// Stands for what other connections have committed: between two equal tokens of one engine none has committed anything.
public struct CommitToken: Hashable, Sendable {
  private let number: Int

  /// A token by a number that the engine chooses.
  public init(_ number: Int) { self.number = number }

  /// The only token of a storage that no other connection can change.
  public static let unshared = CommitToken(0)
}

extension StorageWriter {
  /// That of a storage that no other connection can change.
  public var token: CommitToken? { .unshared }
}
