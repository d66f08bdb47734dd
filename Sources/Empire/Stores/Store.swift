// Stores: transactions over a database, on the calling thread.

public import Foundation
internal import LMDB

/// Records in a directory.
///
///     let store = try Store(path: directory)
///     try store.withTransaction { context in
///       try context.insert(Person(city: "Kyoto", name: "Aoi", age: 41))
///     }
///
/// Any thread may use a store; a transaction runs on the thread that calls. One transaction writes at a time. Where LMDB has no lock
/// file, as in a store that is made from a path, one transaction runs at a time, readers included; a store of a `LockingDatabase`
/// lets any number of transactions read beside the one that writes.
public final class Store: Sendable {
  private let database: OpenDatabase

  /// What transactions run on.
  var core: DatabaseCore { database.inForce }

  /// A store of a database without a lock file.
  ///
  /// - Parameter database: The database. Stores of one database take turns.
  public convenience init(database: Database) {
    self.init(database.open)
  }

  /// A store of a database with a lock file.
  ///
  /// - Parameter database: The database. Its stores read at the same time.
  public convenience init(database: LockingDatabase) {
    self.init(database.open)
  }

  /// Opens a directory as a `Database`.
  ///
  /// - Parameter path: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` with the path for a missing directory; `CancellationError`.
  public convenience init(path: String) throws {
    self.init(database: try Database(path: path))
  }

  /// Opens a directory as a `Database`.
  ///
  /// - Parameter url: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public convenience init(url: URL) throws {
    self.init(database: try Database(url: url))
  }

  private init(_ database: OpenDatabase) {
    self.database = database
  }

  /// Runs a closure in a transaction.
  ///
  /// If the closure returns, its changes are on the disk when this returns. If it throws, nothing is changed, and its error is thrown
  /// on. If the current task has been cancelled when the closure has returned, nothing is changed and `CancellationError` is thrown.
  ///
  /// Inside of another transaction of the same database on the same thread, without `parent`, it runs as a nested one of that
  /// transaction; if it is read-only, it reads in that transaction. Writing inside of one that is read-only fails.
  ///
  /// When the storage's map was full, it grows and the closure runs once more, in a new transaction. So a closure changes the store and
  /// returns what it found; counting in a captured variable may count twice.
  ///
  /// - Parameters:
  ///   - parent: A transaction to be nested in. It must not be used until the new one has ended. If the new one fails, only its own
  ///     changes are undone, and the parent may go on.
  ///   - readOnly: Whether it reads one state of the data. Writing then throws `MDBError.permissionDenied`.
  ///   - block: What to do. It must not keep the context.
  /// - Returns: What the closure returns.
  /// - Throws: The closure's error, `CancellationError`, `MDBError`, `StoreError`.
  @inlinable
  public func withTransaction<T>(
    parent: TransactionContext? = nil, readOnly: Bool = false,
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    if parent == nil, readOnly { return try read(block) }
    return try write(parent: parent, readOnly: readOnly, block)
  }

  /// Runs a closure in a transaction that reads: in the one that is open on this thread, or in one of its own.
  ///
  /// Inlined, so that the closure is compiled with what it captures and returns.
  @inlinable
  func read<T>(
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    let context = try beginReading()
    do {
      let result = try block(context)
      try checkCancellation()
      endReading(consume context)
      return result
    } catch {
      endReading(consume context)
      throw error
    }
  }

  @usableFromInline
  func beginReading() throws -> TransactionContext {
    let innermost = OpenTransactions.innermost
    let context: TransactionContext
    if innermost != nil, let outer = openTransaction {
      try outer.checkActive()
      context = outer.readOnlyView()
    } else {
      context = try database.beginReading()
    }
    OpenTransactions.add(context.state, inside: innermost)
    return context
  }

  @usableFromInline
  func endReading(_ context: consuming TransactionContext) {
    OpenTransactions.remove(context.state)
    if context.state.isView { context.end() } else { database.endReading(context) }
  }

  @usableFromInline
  func checkCancellation() throws {
    if Task.isCancelled { throw CancellationError() }
  }

  /// Runs a closure in a transaction that writes, or that is nested, and waits for those who observe what it changes.
  @usableFromInline
  func write<T>(
    parent: TransactionContext?, readOnly: Bool,
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try write(parent: parent, readOnly: readOnly, isMember: false, block) { $0.wait() }
  }

  /// Runs a closure in a transaction that writes, or that is nested in another one.
  ///
  /// - Parameters:
  ///   - parent: As in `withTransaction(parent:readOnly:_:)`.
  ///   - readOnly: Likewise; only with a parent, and then LMDB refuses it.
  ///   - isMember: Whether it is a transaction of its own to those who observe it, though it is committed with its parent.
  ///   - block: What to do.
  ///   - delivered: Gets the calls of handlers that hear of the transaction, if there are some. They have begun.
  func write<T>(
    parent: TransactionContext? = nil, readOnly: Bool = false, isMember: Bool = false,
    _ block: (TransactionContext) throws -> sending T, delivered: (Deliveries) -> Void
  ) throws -> sending T {
    if let outer = parent ?? openTransaction {
      guard outer.core === database.core || outer.core === core else {
        throw StoreError.noActiveStore
      }
      return try nested(in: outer, readOnly: readOnly, isMember: isMember, block)
    }
    var deliveries: Deliveries?
    // Nobody waits for handlers in the turn: they may write themselves.
    defer { if let deliveries { delivered(deliveries) } }
    let core = beginTurn(readOnly: false)
    defer { core.table.end(readOnly: false) }
    core.observation.turn.begin()
    defer { core.observation.turn.end() }
    let observers = core.observation.observers
    var writes: WriteState?
    let result = try Transaction.with(env: core.environment) { transaction in
      let state = WriteState(handle: core.indexHandle, observers: observers)
      writes = state
      let context = TransactionContext(
        ContextState(
          core: core, transaction: transaction, isReadOnly: false, writes: state, indexHandle: nil))
      let result = try OpenTransactions.with(context, block)
      state.lookForNews(in: context)
      return result
    }
    if let writes {
      if case .open(let dbi) = writes.handle { core.indexHandle = dbi }
      deliveries = core.observation.publish(writes, reading: core.withReader)
    }
    return result
  }

  /// Waits for the turn of an outermost transaction, and says where it runs.
  func beginTurn(readOnly: Bool) -> DatabaseCore { database.begin(readOnly: readOnly) }

  private func nested<T>(
    in parent: TransactionContext, readOnly: Bool, isMember: Bool,
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try parent.checkActive()
    let core = parent.core
    var writes: WriteState?
    var isCommitted = false
    defer { parent.writes?.end(writes, isCommitted: isCommitted) }
    let result = try Transaction.with(
      env: core.environment, parent: parent.transaction, readOnly: readOnly
    ) { transaction in
      writes = parent.writes.map { WriteState(inside: $0) }
      let context = TransactionContext(
        ContextState(
          core: core, transaction: transaction, isReadOnly: readOnly, writes: writes,
          indexHandle: parent.state.indexHandle))
      let result = try OpenTransactions.with(context, block)
      if isMember { writes?.lookForNews(in: context) }
      return result
    }
    isCommitted = true
    return result
  }

  /// Stores a record, in place of one with the same key, in a transaction of its own.
  ///
  /// - Parameter record: The record.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`, `CancellationError`.
  @inlinable
  public func insert<Record: IndexKeyRecord>(_ record: Record) throws {
    try withTransaction { try $0.insert(record) }
  }

  /// Finds the record with a key, in a transaction of its own that reads. Only an outdated record is then stored anew.
  ///
  /// - Parameter key: The complete key.
  /// - Returns: The record; nil if there is none.
  /// - Throws: `StoreError`, `SerializeError`, `DeserializeError`, `MDBError`, `CancellationError`.
  @inlinable
  public func select<Record: IndexKeyRecord>(key: Record.IndexKey) throws -> sending Record? {
    if let open = openTransaction { return try open.select(key: key) }
    let (record, isOutdated) = try withTransaction(readOnly: true) { context in
      var isOutdated = false
      let record: Record? = try context.select(key: key, isOutdated: &isOutdated)
      return (record, isOutdated)
    }
    if isOutdated { return try withTransaction { try $0.select(key: key) } }
    return record
  }

  /// Finds the records that a query describes, whose types nothing has compared with those of the record's key.
  ///
  /// This is for functions that are generic over the records. Elsewhere the compiler takes one of the functions of the same name that compare
  /// the types; if it takes this one, the types are wrong.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: `StoreError.queryMismatch` if the components are not of the types that the key begins with; otherwise as `select(_:)`.
  @available(
    *, deprecated,
    message:
      "the query's values are not known to be of the types that the record's key begins with; write Record.query(…)"
  )
  @_disfavoredOverload
  public func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record] {
    try query.check(against: Record.self)
    return try _select(query: query)
  }

  /// Finds the records that a query describes, in a transaction of its own that reads. What `@IndexKeyRecord` generates calls it; it compares
  /// no types.
  ///
  /// Only if some records are outdated, they are found and stored anew in one that writes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func _select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record] {
    if let open = openTransaction { return try open._select(query: query) }
    let (records, hasOutdated) = try withTransaction(readOnly: true) { context in
      var hasOutdated = false
      let records: [Record] = try context.select(query: query, hasOutdated: &hasOutdated)
      return (records, hasOutdated)
    }
    if hasOutdated { return try withTransaction { try $0._select(query: query) } }
    return records
  }

  /// Deletes the record with the key of a record, in a transaction of its own.
  ///
  /// - Parameter record: The record. Its fields do not matter.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, `CancellationError`.
  @inlinable
  public func delete<Record: IndexKeyRecord>(_ record: Record) throws {
    try withTransaction { try $0.delete(record) }
  }

  /// The innermost transaction that is open on this thread.
  @usableFromInline var openTransaction: TransactionContext? {
    if OpenTransactions.innermost == nil { return nil }
    let core = self.core
    if let open = OpenTransactions.current(of: core.table) { return open }
    // One that began before a lock file came into force.
    return core === database.core ? nil : OpenTransactions.current(of: database.core.table)
  }
}
