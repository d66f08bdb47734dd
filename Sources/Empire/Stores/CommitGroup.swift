// Group commit: transactions that wait at the same time share a commit.
//
// A commit waits for the disk, which takes longer than everything else in a small transaction.
// Transactions that are queued while one commit runs are therefore grouped: each becomes a child of
// one outer transaction, which is committed once.
//
// Invariants:
//  - A transaction that throws, or whose task was cancelled, is rolled back alone: it is a child.
//  - Each caller is resumed exactly once, and not before the outer commit has returned.
//  - If the group cannot be committed as one, each transaction runs by itself, so that one that is
//    too large fails alone.

internal import Platform

/// A transaction whose caller waits for the result, without the type of the result.
protocol AnyPendingTransaction: AnyObject, Sendable {
  /// Runs the closure and keeps its result.
  func run(in context: TransactionContext) throws
  /// Resumes the caller.
  func finish(_ result: Result<Void, any Error>)
}

final class PendingTransaction<T>: AnyPendingTransaction {
  private let isCancelled = Atomic(false)
  /// One thread runs the closure, another takes the result. The queue and the continuation order
  /// these accesses.
  private let work: Confined<Work>
  private let continuation = Mutex<CheckedContinuation<Void, any Error>?>(nil)

  private struct Work {
    let block: (TransactionContext) throws -> sending T
    var result: T?
  }

  init(_ block: sending @escaping (TransactionContext) throws -> sending T) {
    work = Confined(Work(block: block))
  }

  /// Sets what `finish` resumes.
  func await(_ continuation: CheckedContinuation<Void, any Error>) {
    self.continuation.withLock { $0 = continuation }
  }

  func run(in context: TransactionContext) throws {
    try work.withValue { work in
      work.result = nil
      work.result = try work.block(context)
    }
    if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
  }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  func finish(_ result: Result<Void, any Error>) {
    continuation.withLock { $0 }?.resume(with: result)
  }

  /// The closure's result. May be called once, after the transaction has succeeded.
  func takeResult() -> sending T {
    // Sound: `take` leaves nothing behind, so this is the only reference to what the closure made.
    // The compiler cannot see that through the confinement.
    nonisolated(unsafe) let result = work.withValue { $0.result.take() }
    guard let result else {
      fatalError("BackgroundStore: a transaction has ended without a result")
    }
    return result
  }
}

/// The transactions that wait for the actor.
final class CommitQueue: Sendable {
  private struct State {
    var waiting: [any AnyPendingTransaction] = []
    var isDraining = false
  }

  /// The maximum number of transactions that share a commit.
  private static let limit = 1_000

  private let state = Mutex(State())

  /// Enqueues a transaction. Returns true if the caller has to start draining the queue.
  func add(_ transaction: any AnyPendingTransaction) -> Bool {
    state.withLock { state in
      state.waiting.append(transaction)
      defer { state.isDraining = true }
      return !state.isDraining
    }
  }

  /// Dequeues the transactions that have waited longest. Returns nil and ends draining if there are
  /// none.
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

  /// Runs all transactions, commits once, and resumes all callers.
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
      // The group as a whole failed: it is too large, the map cannot grow, or the disk is full.
      // Single transactions may still succeed.
      runAlone(in: store)
    }
  }

  /// Runs one transaction as a child and returns its error. Throws if the map is full, because that
  /// fails the whole group, or if the group has changed as many pages as a transaction may: the one
  /// that met the limit may succeed alone.
  private func run(
    _ transaction: any AnyPendingTransaction, in store: Store, _ outer: TransactionContext
  ) throws -> (any Error)? {
    do {
      // Observers are notified when the group is committed.
      try store.write(parent: outer, isMember: true, { try transaction.run(in: $0) }) { _ in }
      return nil
    } catch {
      if outer.transaction.metFullMap || outer.transaction.metPageLimit { throw error }
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

  /// Resumes callers after the observers have been notified. Does not wait: the next group does not
  /// depend on them.
  private func finish(after deliveries: Deliveries?, _ completion: @escaping @Sendable () -> Void) {
    if let deliveries { deliveries.notify(completion) } else { completion() }
  }
}
