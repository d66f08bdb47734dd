// Stores whose transactions run in the background.

public import Foundation

/// Records in a directory, written one transaction after the other by an actor.
///
///     let store = try BackgroundStore(path: directory)
///     try await store.withTransaction { context in
///       try context.insert(Person(city: "Lima", name: "Ana", age: 52))
///     }
///
/// Any number of tasks may call at once. Transactions that wait at the same time share one commit, which is what costs most; each is
/// still all or nothing by itself, and durable when its call returns.
public actor BackgroundStore {
  nonisolated let store: Store
  private nonisolated let queue = CommitQueue()

  /// A store of a database.
  ///
  /// - Parameter database: The database.
  public init(database: LockingDatabase) {
    store = Store(database: database)
  }

  /// Opens a directory.
  ///
  /// - Parameter path: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(path: String) throws {
    self.init(database: try LockingDatabase(path: path))
  }

  /// Opens a directory.
  ///
  /// - Parameter url: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  public init(url: URL) throws {
    self.init(database: try LockingDatabase(url: url))
  }

  /// Runs a closure in a transaction, for code that is on the actor already, such as extensions of it.
  ///
  /// - Parameters:
  ///   - readOnly: Whether it reads one state of the data.
  ///   - block: What to do. It must not keep the context.
  /// - Returns: What the closure returns.
  /// - Throws: As `Store.withTransaction(parent:readOnly:_:)`.
  public func withTransaction<T>(
    readOnly: Bool = false, _ block: sending (TransactionContext) throws -> sending T
  ) throws -> sending T {
    try store.withTransaction(readOnly: readOnly, block)
  }

  /// Runs a closure in a transaction on the actor.
  ///
  /// A transaction that waits together with others is committed together with them. When one of them fails it is undone alone.
  ///
  /// - Parameters:
  ///   - readOnly: Whether it reads one state of the data.
  ///   - block: What to do. It must not keep the context, and may run more than once; only its last run counts.
  /// - Returns: What the closure returns, after the commit.
  /// - Throws: As `Store.withTransaction(parent:readOnly:_:)`. `CancellationError` if the calling task has been cancelled before the
  ///   commit; nothing is changed then.
  public nonisolated func withTransaction<T>(
    readOnly: Bool = false, _ block: sending @escaping (TransactionContext) throws -> sending T
  ) async throws -> sending T {
    let transaction = PendingTransaction(block)
    try await withTaskCancellationHandler {
      if readOnly {
        try await read(transaction)
      } else {
        try await withCheckedThrowingContinuation { continuation in
          transaction.continuation = continuation
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

  /// Runs what waits, until nothing does.
  private func drain() async {
    while let group = queue.next() {
      group.run(in: store)
      // Others may want the actor.
      await Task.yield()
    }
  }
}

/// A store on the main actor and one in the background, of one directory.
public final class BackgroundableStore: Sendable {
  private let mainStore: Store

  /// The store of the background.
  public let background: BackgroundStore

  /// The store of the main actor, which is synchronous.
  ///
  /// Its read-only transactions do not wait for `background`. **Writing here while `background` writes blocks the main thread** until
  /// that transaction has ended.
  @MainActor public var main: Store { mainStore }

  /// Both stores of a database.
  ///
  /// - Parameter database: The database.
  @MainActor
  public init(database: LockingDatabase) {
    mainStore = Store(database: database)
    background = BackgroundStore(database: database)
  }

  /// Opens a directory.
  ///
  /// - Parameter path: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  @MainActor
  public convenience init(path: String) throws {
    self.init(database: try LockingDatabase(path: path))
  }

  /// Opens a directory.
  ///
  /// - Parameter url: A directory that exists.
  /// - Throws: `MDBError`, `failure(2, …)` for a missing directory; `CancellationError`.
  @MainActor
  public convenience init(url: URL) throws {
    self.init(database: try LockingDatabase(url: url))
  }
}
