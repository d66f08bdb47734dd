// Stores that run transactions in the background.

public import Foundation

/// Records in a directory. An actor runs the writing transactions one at a time.
///
///     let store = try BackgroundStore(path: directory)
///     try await store.withTransaction { context in
///       try context.insert(Person(city: "Lima", name: "Ana", age: 52))
///     }
///
/// Any number of tasks may call at once. Transactions that wait at the same time share one commit,
/// the most expensive step. Each is still atomic by itself, and durable when its call returns.
public actor BackgroundStore {
  nonisolated let store: Store
  private nonisolated let queue = CommitQueue()

  /// Creates a store of a database.
  ///
  /// - Parameter database: The database.
  public init(database: LockingDatabase) {
    store = Store(database: database)
  }

  /// Opens the database in a directory.
  ///
  /// - Parameter path: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(path: String) throws {
    self.init(database: try LockingDatabase(path: path))
  }

  /// Opens the database in a directory.
  ///
  /// - Parameter url: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  public init(url: URL) throws {
    self.init(database: try LockingDatabase(url: url))
  }

  /// Runs a closure in a transaction. For code that already runs on the actor, such as extensions
  /// of it.
  ///
  /// - Parameters:
  ///   - readOnly: Whether the transaction only reads; it sees one consistent state.
  ///   - block: The work to do. It must not keep the context.
  /// - Returns: What the closure returns.
  /// - Throws: The same errors as `Store.withTransaction(parent:readOnly:_:)`.
  public func withTransaction<T>(
    readOnly: Bool = false, _ block: sending (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try store.withTransaction(readOnly: readOnly, block)
  }

  /// Runs a closure in a transaction on the actor.
  ///
  /// Transactions that wait at the same time are committed together. If one of them fails, only
  /// that one is rolled back.
  ///
  /// - Parameters:
  ///   - readOnly: Whether the transaction only reads; it sees one consistent state.
  ///   - block: The work to do. It must not keep the context, and may run more than once; only its
  ///     last run counts.
  /// - Returns: What the closure returns, after the commit.
  /// - Throws: The same errors as `Store.withTransaction(parent:readOnly:_:)`. `CancellationError`
  ///   if the calling task was cancelled before the commit; then nothing is changed.
  public nonisolated func withTransaction<T>(
    readOnly: Bool = false, _ block: sending @escaping (TransactionContext) throws -> sending T
  ) async throws -> sending T {
    let transaction = PendingTransaction(block)
    try await withTaskCancellationHandler {
      if readOnly {
        try await read(transaction)
      } else {
        try await withCheckedThrowingContinuation { continuation in
          transaction.await(continuation)
          if queue.add(transaction) { Task { await self.drain() } }
        }
      }
    } onCancel: {
      transaction.cancel()
    }
    return transaction.takeResult()
  }

  private func read(_ transaction: some AnyPendingTransaction) throws {
    try store.withTransaction(readOnly: true) { try transaction.run(in: $0) }
  }

  /// Runs queued transactions until the queue is empty.
  private func drain() async {
    while let group = queue.next() {
      group.run(in: store)
      // Lets other callers of the actor run between groups.
      await Task.yield()
    }
  }
}

/// Two stores of one directory: one on the main actor, one in the background.
public final class BackgroundableStore: Sendable {
  private let mainStore: Store

  /// The background store.
  public let background: BackgroundStore

  /// The synchronous store of the main actor.
  ///
  /// Its read-only transactions do not wait for `background`. **Writing here while `background`
  /// writes blocks the main thread** until the background transaction has ended.
  @MainActor public var main: Store { mainStore }

  /// Creates both stores of a database.
  ///
  /// - Parameter database: The database.
  @MainActor
  public init(database: LockingDatabase) {
    mainStore = Store(database: database)
    background = BackgroundStore(database: database)
  }

  /// Opens the database in a directory.
  ///
  /// - Parameter path: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  @MainActor
  public convenience init(path: String) throws {
    self.init(database: try LockingDatabase(path: path))
  }

  /// Opens the database in a directory.
  ///
  /// - Parameter url: An existing directory.
  /// - Throws: `MDBError` (`failure(2, …)` for a missing directory), `CancellationError`.
  @MainActor
  public convenience init(url: URL) throws {
    self.init(database: try LockingDatabase(url: url))
  }
}
