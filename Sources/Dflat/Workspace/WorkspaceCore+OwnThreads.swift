// The workspace's own work on the thread of a caller that may wait: it takes its position in the
// queues like any transaction, and needs no job queue.

import Dispatch

extension WorkspaceCore {
  /// Waits on this thread until all earlier transactions of some types have ended, and calls
  /// `body`; later ones wait for its end.
  /// - Throws: The errors of `body`; `WorkspaceError.shutDown`.
  func holdingQueues<R>(of types: TypeSet, _ body: () throws -> R) throws -> R {
    let ready = DispatchSemaphore(value: 0)
    accepted.enter()
    defer { endAccepted() }
    guard let (ticket, isReady) = transactions.enter(types, .own(ready)) else {
      throw WorkspaceError.shutDown
    }
    if !isReady { ready.wait() }
    defer { transactions.end(ticket, .settling) }
    return try body()
  }

  /// Runs a transaction on this thread, which stands at the head of the queues of its types, and
  /// commits it before it returns. Observers are notified later.
  /// - Throws: The errors of `body`, or why the transaction could not be committed.
  func commit<R>(_ transaction: Transaction, _ body: () throws -> R) throws -> R {
    let outcome = Result(catching: body)
    if case .failure(let error) = outcome { transaction.fail(error) }
    accepted.enter()
    let (rest, _) = transaction.finishAtOnce()
    if case .delivery(let ticket) = rest { startDelivery(ticket) }
    let result = try outcome.get()
    let error = transaction.group?.use { transaction.outcome } ?? transaction.outcome
    if let error { throw error }
    return result
  }

  /// Runs a transaction over some types on this thread when it is its turn, and commits it before
  /// it returns. After a conflict it runs again.
  func commitHere(_ types: TypeSet, _ body: (Transaction) throws -> Void) throws {
    var pauses = RetryPauses()
    var attempts = 20
    while true {
      attempts -= 1
      do { return try commitOnce(types, pauses.conflicts, body) } catch let error as StorageError
        where error.cause == .conflict && attempts > 0
      {
        pauses.take()
      }
    }
  }

  private func commitOnce(
    _ types: TypeSet, _ conflicts: Int, _ body: (Transaction) throws -> Void
  ) throws {
    try engine.prepareForWriting()
    try holdingQueues(of: types) {
      let transaction = Transaction(
        self, types, reportsFailures: false, isMigration: true, conflicts: conflicts,
        completion: .none)
      try commit(transaction) {
        var outcome: Result<Void, any Error>?
        ThreadContext.current.inside(transaction) { transaction in
          outcome = Result {
            try transaction.takePrecedence()
            try body(transaction)
          }
        }
        try outcome?.get()
      }
    }
  }

  /// Waits on this thread until all transactions over some types that have ended were delivered.
  func awaitDeliveries(of types: TypeSet) {
    let done = DispatchSemaphore(value: 0)
    let ticket = deliveries.place(
      types,
      .notice {
        done.signal()
        return .nothing
      })
    if let ticket { deliveries.start(ticket) }
    done.wait()
  }
}
