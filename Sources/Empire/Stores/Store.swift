// Stores: they run transactions of a database on the calling thread.

public import Foundation
internal import LMDB
internal import Platform

/// Records in a directory.
///
///     let store = try Store(path: directory)
///     try store.withTransaction { context in
///       try context.insert(Person(city: "Kyoto", name: "Aoi", age: 41))
///     }
///
/// Any thread may use a store; a transaction runs on the calling thread. One transaction writes at
/// a time. Without LMDB's lock file, as in a store that is created from a path, one transaction
/// runs at a time, readers included. In a store of a `LockingDatabase`, any number of readers run
/// beside the writer.
public final class Store: Sendable {
  let database: OpenDatabase

  /// The core that transactions run on.
  var core: DatabaseCore { database.effectiveCore }

  /// Creates a store of a database without a lock file.
  ///
  /// - Parameter database: The database. Stores of one database take turns.
  public convenience init(database: Database) {
    self.init(database.open)
  }

  /// Creates a store of a database with a lock file.
  ///
  /// - Parameter database: The database. Its stores can read at the same time.
  public convenience init(database: LockingDatabase) {
    self.init(database.open)
  }

  /// Opens the database in a directory, as a `Database`.
  ///
  /// - Parameter path: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` with the path for a missing directory),
  ///   `CancellationError`.
  public convenience init(path: String) throws {
    self.init(database: try Database(path: path))
  }

  /// Opens the database in a directory, as a `Database`.
  ///
  /// - Parameter url: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public convenience init(url: URL) throws {
    self.init(database: try Database(url: url))
  }

  /// Whether read-only transactions wait for others: they do without the lock file.
  package var readersWait: Bool { database.readersWait }

  private init(_ database: OpenDatabase) {
    self.database = database
  }

  /// Runs a closure in a transaction.
  ///
  /// If the closure returns, its changes are on the disk when this returns. If it throws, nothing
  /// is changed and this rethrows the error. If the current task is cancelled by the time the
  /// closure returns, nothing is changed and `CancellationError` is thrown.
  ///
  /// Inside another transaction of the same directory on the same thread, without `parent`, it runs
  /// as a nested transaction of that one, whichever store has begun it; if it is read-only, it
  /// reads in that transaction. Writing inside a read-only transaction fails.
  ///
  /// If the memory map is full, it grows, or pages of killed readers are freed, and the closure
  /// runs again in a new transaction. The closure should therefore have no effects except on the
  /// store, and return what it found: a counter in a captured variable may count twice.
  ///
  /// - Parameters:
  ///   - parent: The transaction to nest in. It must not be used until the new one has ended. If
  ///     the new one fails, only its own changes are rolled back, and the parent may continue.
  ///   - readOnly: Whether the transaction only reads; it sees one consistent state. Writing then
  ///     throws `MDBError.permissionDenied`.
  ///   - block: The work to do. It must not keep the context.
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

  /// Runs a closure in a read-only transaction: the one that is open on this thread, or a new one.
  ///
  /// Inlined, so that the compiler can specialise the closure with its captures and result.
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

  /// Runs a closure in a writing or nested transaction, then waits until its observers have been
  /// notified.
  @usableFromInline
  func write<T>(
    parent: TransactionContext?, readOnly: Bool,
    _ block: (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try write(parent: parent, readOnly: readOnly, isMember: false, block) { $0.wait() }
  }

  /// Runs a closure in a writing or nested transaction.
  ///
  /// - Parameters:
  ///   - parent: As in `withTransaction(parent:readOnly:_:)`.
  ///   - readOnly: As in `withTransaction(parent:readOnly:_:)`. Only with a parent; LMDB then
  ///     refuses it.
  ///   - isMember: Whether observers see it as a transaction of its own, although it is committed
  ///     with its parent.
  ///   - block: The work to do.
  ///   - delivered: Receives the pending calls of handlers, if the transaction causes any. They are
  ///     already enqueued.
  func write<T>(
    parent: TransactionContext? = nil, readOnly: Bool = false, isMember: Bool = false,
    _ block: (TransactionContext) throws -> sending T, delivered: (Deliveries) -> Void
  ) throws -> sending T {
    if let outer = parent ?? openTransaction {
      guard outer.core.hasSameFile(as: database.core) || outer.core.hasSameFile(as: core) else {
        throw StoreError.noActiveStore
      }
      return try outer.nested(readOnly: readOnly, isMember: isMember, block)
    }
    var deliveries: Deliveries?
    // Runs after the locks have been released: handlers may write themselves.
    defer { if let deliveries { delivered(deliveries) } }
    let core = database.acquireLock(readOnly: false)
    defer { database.releaseLock(of: core, readOnly: false) }
    core.observation.writeLock.lock()
    defer { core.observation.writeLock.unlock() }
    let observers = core.observation.observers
    var writes: WriteState?
    let result = try Transaction.with(env: core.environment) { transaction in
      let state = WriteState(handle: core.indexHandle, observers: observers)
      writes = state
      let context = TransactionContext(
        ContextState(
          core: core, transaction: transaction, isReadOnly: false, writes: state, indexHandle: nil))
      let result = try OpenTransactions.with(context, block)
      state.collectUpdates(in: context)
      return result
    }
    if let writes {
      if case .open(let dbi) = writes.handle { core.indexHandle = dbi }
      deliveries = core.observation.publish(writes, reading: core.withReader)
    }
    return result
  }

  /// Stores a record, replacing one with the same key, in a transaction of its own.
  ///
  /// - Parameter record: The record.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`, `CancellationError`.
  @inlinable
  public func insert<Record: IndexKeyRecord>(_ record: Record) throws {
    try withTransaction { try $0.insert(record) }
  }

  /// Finds the record with a key, in a read-only transaction of its own. A writing transaction
  /// follows only to rewrite an outdated record.
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

  /// Finds the records that a query describes, in a read-only transaction of its own. What
  /// `@IndexKeyRecord` generates calls it; it compares no types.
  ///
  /// If some records are outdated, a writing transaction finds them again and rewrites them.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
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
  /// - Parameter record: The record. Its fields are ignored.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`,
  ///   `CancellationError`.
  @inlinable
  public func delete<Record: IndexKeyRecord>(_ record: Record) throws {
    try withTransaction { try $0.delete(record) }
  }

  /// The transaction of this thread that another one is nested in; nil if there is none. Another
  /// store of the same file may have begun it.
  @usableFromInline var openTransaction: TransactionContext? {
    if OpenTransactions.innermost == nil { return nil }
    // The transaction may have begun before the directory was opened with the lock file.
    let cores = (core, database.core)
    return OpenTransactions.innermost { state in
      state.core.hasSameFile(as: cores.0) || state.core.hasSameFile(as: cores.1)
    }
  }
}
