// Transactions that wait at the same time and share a commit.
//
// A commit waits for the disk, which takes longer than all else in a small transaction. So what has gathered while one commit ran is
// put into the next one: every transaction of a group is a child of one outer transaction, which is committed once.
//
// Kept true:
//  - a transaction that throws, or whose task was cancelled, is undone alone: it is a child;
//  - nobody is told before the outer commit has returned, and everybody exactly once;
//  - when the group cannot be committed as one, each transaction runs by itself, so one that is too large fails alone.

internal import Platform

/// A transaction whose caller waits, whatever it returns.
protocol AnyPendingTransaction: AnyObject, Sendable {
  /// Runs the closure and keeps what it returns.
  func run(in context: TransactionContext) throws
  /// Tells the caller.
  func finish(_ result: Result<Void, any Error>)
}

/// Unchecked: the closure runs, and its result is taken, by one thread after the other, ordered by the queue and the continuation.
final class PendingTransaction<T>: AnyPendingTransaction, @unchecked Sendable {
  private let block: (TransactionContext) throws -> sending T
  private let isCancelled = Atomic(false)
  private var result: T?
  var continuation: CheckedContinuation<Void, any Error>?

  init(_ block: sending @escaping (TransactionContext) throws -> sending T) {
    self.block = block
  }

  func run(in context: TransactionContext) throws {
    result = nil
    result = try block(context)
    if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  func finish(_ result: Result<Void, any Error>) { continuation?.resume(with: result) }

  /// What the closure returned, once. The caller has been told that it did.
  func takeResult() -> sending T {
    nonisolated(unsafe) let result = self.result
    self.result = nil
    guard let result else {
      fatalError("BackgroundStore: a transaction has ended without a result")
    }
    return result
  }
}

/// What waits for the actor.
final class CommitQueue: Sendable {
  private struct State {
    var waiting: [any AnyPendingTransaction] = []
    var isDraining = false
  }

  /// How many transactions share a commit at most.
  private static let limit = 1_000

  private let state = Mutex(State())

  /// Adds a transaction. True if somebody has to begin to drain the queue.
  func add(_ transaction: any AnyPendingTransaction) -> Bool {
    state.withLock { state in
      state.waiting.append(transaction)
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  /// The transactions that have waited longest; nil, and the end of draining, if there are none.
  func next() -> CommitGroup? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isDraining = false
        return nil
      }
      let group = CommitGroup(Array(state.waiting.prefix(Self.limit)))
      state.waiting.removeFirst(group.transactions.count)
      return group
    }
  }
}

struct CommitGroup {
  let transactions: [any AnyPendingTransaction]

  init(_ transactions: [any AnyPendingTransaction]) { self.transactions = transactions }

  /// Runs all, commits once, and tells all.
  func run(in store: Store) {
    if transactions.count == 1 { return runAlone(in: store) }
    do {
      var deliveries: Deliveries?
      let errors = try store.write(
        { outer in try transactions.map { try run($0, in: store, outer) } },
        delivered: { deliveries = $0 })
      finish(after: deliveries) {
        for (transaction, error) in zip(transactions, errors) {
          transaction.finish(error.map { .failure($0) } ?? .success(()))
        }
      }
    } catch {
      // The group as a whole has failed: the map cannot grow, the disk is full. Smaller ones may succeed.
      runAlone(in: store)
    }
  }

  /// Runs one as a child. Its error is its own, unless the map is full, which is everybody's.
  private func run(
    _ transaction: any AnyPendingTransaction, in store: Store, _ outer: TransactionContext
  ) throws -> (any Error)? {
    do {
      // What its observers hear is told with the group.
      try store.write(parent: outer, isMember: true, { try transaction.run(in: $0) }) { _ in }
      return nil
    } catch {
      if outer.transaction.metFullMap { throw error }
      return error
    }
  }

  private func runAlone(in store: Store) {
    for transaction in transactions {
      var deliveries: Deliveries?
      let result = Result { () throws -> Void in
        try store.write({ try transaction.run(in: $0) }, delivered: { deliveries = $0 })
      }
      finish(after: deliveries) { transaction.finish(result) }
    }
  }

  /// Tells callers when observers have heard of it, without waiting: the next group does not depend on them.
  private func finish(after deliveries: Deliveries?, _ tell: @escaping @Sendable () -> Void) {
    if let deliveries { deliveries.notify(tell) } else { tell() }
  }
}
