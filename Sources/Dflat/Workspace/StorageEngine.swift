// The seam between Dflat and a storage engine.
//
// An engine stores rows under row ids, keeps keys and indexes beside them, and answers queries. It knows schemas and rows as
// data and no user's types. Above the seam stand order, transactions and everything that programs see.
//
// An engine keeps true:
//
//  - a reader sees one committed state during `read`, and never waits for the writer;
//  - there is one writer at a time; what it wrote is visible to others after `commit` only;
//  - `insert`, `update` and `delete` do all or nothing; a conflict is thrown as `.alreadyExists` and changes nothing.

/// A storage engine.
public protocol StorageEngine: AnyObject, Sendable {
  /// Makes sure that the storage can be written, creating it if it does not exist.
  func prepareForWriting() throws
  /// Calls `body` with a view of one committed state. Any thread may call.
  ///
  /// - Parameters:
  ///   - isUrgent: The call must not wait for other readers, since they may wait for a transaction.
  ///   - body: It must not keep the view beyond its end.
  func read<R: ~Copyable>(isUrgent: Bool, _ body: (any StorageReader) throws -> R) throws -> R
  /// The row with a primary key, in the committed state; nil if there is none. Any thread may call.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - mark: What the row carries.
  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row?
  /// The same, in the storage's own memory. A damaged row is reported, and passed over.
  ///
  /// - Parameters:
  ///   - schema: The type of the row.
  ///   - key: The values of all fields of its primary key.
  ///   - body: Called with the row's id and bytes if there is one. It must not keep the bytes, nor use the storage.
  func withRow(
    of schema: EntitySchema, with key: KeyValues,
    _ body: (_ id: Int64, _ bytes: UnsafeRawBufferPointer) -> Void
  ) throws
  /// A number that grows when it is noticed that somebody else than this engine's own writer has committed. `StorageWriter` has
  /// it for sure; here it may lag behind.
  var generation: Int { get }
  /// The generation that is true at a moment of the call; nil if it cannot be known, as while the engine's own writer begins or ends
  /// a transaction.
  func exactGeneration() throws -> Int?
  /// A view that takes the committed state at its first read and keeps it until it is closed.
  /// - Parameter isUrgent: As for `read`.
  func makeSnapshot(isUrgent: Bool) -> any StorageSnapshot
  /// Whether the storage should be taken care of before another snapshot is opened, which could be in the way. It costs nothing to
  /// ask.
  var needsCare: Bool { get }
  /// Does what has to be done between transactions. Called while the engine's own writer is outside of a transaction.
  func takeCare()
  /// Waits for the write lock and begins a transaction.
  func beginWriting() throws -> any StorageWriter
  /// The same without waiting.
  /// - Returns: nil if it would have to wait, for another connection or for care that the storage
  ///   takes.
  func beginWritingAtOnce() throws -> (any StorageWriter)?
  /// Whether it is worth while to try that: everything is prepared, and no care is due. It costs
  /// nothing to ask.
  var canWriteAtOnce: Bool { get }
  /// Whom to tell that a query has mentioned an index that is not complete, so that it is built.
  var wantIndexes: (@Sendable (EntitySchema) -> Void)? { get set }
  /// Whether transactions may write.
  var isWritable: Bool { get }
  /// A step has migrated objects to a type; for those who trace what the engine does.
  func didMigrate(to schema: EntitySchema, _ progress: MigrationProgress)
  /// Waits for readers, carries the flags out and closes everything. Called once, after the last transaction.
  func close(_ flags: WorkspaceShutdownFlag) throws
}

extension StorageEngine {
  /// The generation that is true now, as far as it is known.
  func currentGeneration() throws -> Int { try exactGeneration() ?? generation }

  /// Gives nothing: an engine that cannot tell whether it would wait lets transactions run where
  /// they may.
  public func beginWritingAtOnce() throws -> (any StorageWriter)? { nil }
  /// False.
  public var canWriteAtOnce: Bool { false }
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
  func close()
}

/// The transaction that may write, with a view of its own changes.
public protocol StorageWriter: StorageReader {
  /// Stores a new row and returns its id.
  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64
  /// Replaces the row that is stored, which is `old`. Fields that are not among `fields` have the same values in both.
  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws
  /// Removes a row, if it is there.
  func delete(_ schema: EntitySchema, id: Int64) throws
  /// The engine's `generation`, which stays the same during the transaction: what was read at the same generation, before the
  /// transaction began, is what is stored now, but for what this engine has written itself.
  var generation: Int { get }
  /// Fills rows of indexes that are missing, from below, and repairs what others have left wrong in them.
  /// - Parameters:
  ///   - schema: The type whose indexes are filled.
  ///   - limit: How many rows are filled at most, over all its indexes.
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress
  /// False once the storage has given up the whole transaction by itself, as after some errors it does.
  var isAlive: Bool { get }
  /// Marks where `undoToSavepoint` goes back to. There is one at a time.
  func makeSavepoint() throws
  /// Keeps what was written since the savepoint.
  func releaseSavepoint() throws
  /// Undoes what was written since the savepoint. Throws if the storage has given up the whole transaction.
  func undoToSavepoint() throws
  /// Makes everything that was written lasting. If it throws, nothing is.
  /// - Returns: The generation then: another one than before if what was found out about side tables holds no more.
  func commit() throws -> Int
  func rollback()
}

/// A failure of the storage.
public struct StorageError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is.
  public enum Cause: Sendable, Equatable {
    /// A key or unique value belongs to another object.
    case alreadyExists
    /// An object that should be there is not.
    case missing
    /// A value does not fit its field, or a required union is empty. The request changed nothing and the transaction goes on.
    case invalidValue
    /// A stored row is damaged.
    case corruptRow
    /// The file is damaged or is no database.
    case corruptFile
    case diskFull
    /// The write lock was not granted in time.
    case busy
    /// Another connection has changed what the transaction had read before it took the write lock.
    case conflict
    case cannotOpen
    case readOnly
    /// The workspace was shut down.
    case closed
    case other
  }

  /// What kind of failure it is.
  public let cause: Cause
  /// The main or side table that it concerns.
  public let table: String?
  /// The row that it concerns.
  public let rowid: Int64?
  /// The key, or the unique value, that it concerns: `site: "notes", number: 7`.
  public let key: String?
  /// The engine's own code, for SQLite its extended result code.
  public let code: Int32?
  /// What is wrong, in words.
  public let message: String
  /// The statement that failed.
  public let statement: String?

  /// A failure, as an engine tells it.
  public init(
    _ cause: Cause, table: String? = nil, rowid: Int64? = nil, key: String? = nil,
    code: Int32? = nil, message: String, statement: String? = nil
  ) {
    self.cause = cause
    self.table = table
    self.rowid = rowid
    self.key = key
    self.code = code
    self.message = message
    self.statement = statement
  }

  /// One line: `corruptRow: table post, row 1184: string at offset 212 ends outside the buffer`.
  public var description: String {
    var place: [String] = []
    if let table { place.append("table \(table)") }
    if let rowid { place.append("row \(rowid)") }
    if let key { place.append(key) }
    var text = "\(cause): "
    if !place.isEmpty { text += place.joined(separator: ", ") + ": " }
    text += message
    if let code { text += " (code \(code))" }
    if let statement { text += ", in: \(statement)" }
    return text
  }
}
