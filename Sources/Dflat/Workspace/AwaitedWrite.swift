// AwaitedWrite: a transaction that a task awaits, and its closure while it runs.
//
// The closure runs on the task's own thread if nothing is in its way, and otherwise on the thread
// that a job queue lends to the task. Either the thread that runs it or the one that cancels the
// task ends it, and no other.

import Platform

/// A transaction that a task awaits.
final class AwaitedWrite: Sendable {
  /// Its state. The thread that moves it out of `waiting` ends it: either the thread that runs it,
  /// or the one that cancels the task.
  private enum Stage: UInt8, AtomicRepresentable {
    case waiting, running, withdrawn
  }

  private let core: WorkspaceCore
  private let types: TypeSet
  /// The migrations that must be complete before it begins.
  private let plans: [MigrationPlan]
  /// How many conflicts have ended earlier runs.
  private let conflicts: Int
  private let stage = Atomic(Stage.waiting)
  private let body: @Sendable (WriteContext) throws -> Void
  private let running: RunningWrite
  private let outcome = CommitOutcome()
  /// Runs the task in the transaction's job queue, so `body` sees its task there as well.
  private let loan = ThreadLoan()
  /// What remains to be done after the transaction. The task sets it while the job queue lends its
  /// thread; then the job queue reads it.
  private let rest = Confined(Ticket.FollowUp.settling)

  init(
    _ core: WorkspaceCore, _ types: TypeSet, _ plans: [MigrationPlan], _ conflicts: Int,
    _ body: @escaping @Sendable (WriteContext) throws -> Void
  ) {
    self.core = core
    self.types = types
    self.plans = plans
    self.conflicts = conflicts
    self.body = body
    running = RunningWrite(core, types, isAwaited: true)
  }

  /// Runs the transaction in a job queue.
  func run() -> Ticket.FollowUp {
    // If it was withdrawn, the previous transactions may have left their commit group open for it.
    if !leaveWaiting(for: .running) { return .settling }
    // The task continues in `runInJobQueue`, on this thread.
    loan.lend()
    return rest.withValue { $0 }
  }

  /// Suspends until a job queue lends its thread, runs the transaction there, and returns when it
  /// is committed, or is certain not to run.
  func runInJobQueue(_ ticket: Ticket) async throws {
    let isInPool = withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
    await withTaskCancellationHandler {
      await withTaskExecutorPreference(loan) {
        if stage.load(ordering: .acquiring) == .running {
          core.complete(plans)
          let rest = core.run(transaction(mayWait: true)) { running.call(body, in: $0) }
          self.rest.withValue { $0 = rest }
        }
        // Waiting here saves the pool one wake-up. A task with an executor of its own needs none
        // of the pool's threads, so it returns to its executor first.
        if isInPool { await outcome.wait() }
      }
      await outcome.wait()
    } onCancel: {
      cancel(ticket)
    }
    try outcome.check()
  }

  /// Runs the transaction on the task's own thread.
  /// - Returns: nil if it would have had to wait.
  func runAtOnce() -> Ticket.FollowUp? {
    // No other thread knows it yet; `running` checks whether its task is cancelled.
    stage.store(.running, ordering: .releasing)
    let rest = core.runAtOnce(transaction(mayWait: false)) { running.call(body, in: $0) }
    if rest == nil { stage.store(.waiting, ordering: .releasing) }
    return rest
  }

  private func leaveWaiting(for stage: Stage) -> Bool {
    self.stage.compareExchange(
      expected: .waiting, desired: stage, ordering: .acquiringAndReleasing
    ).exchanged
  }

  private func transaction(mayWait: Bool) -> Transaction {
    let transaction = Transaction(
      core, types, reportsFailures: false, mayWait: mayWait, conflicts: conflicts,
      completion: .awaited(outcome))
    transaction.cancellation = running.wasCancelled
    return transaction
  }

  /// Returns when the transaction is committed, or is certain not to run.
  func end(_ ticket: Ticket) async throws {
    if !outcome.isKnown {
      await withTaskCancellationHandler {
        await outcome.wait()
      } onCancel: {
        cancel(ticket)
      }
    }
    try outcome.check()
  }

  private func cancel(_ ticket: Ticket) {
    running.cancel()
    // A running transaction ends by itself.
    guard leaveWaiting(for: .withdrawn) else { return }
    core.transactions.withdraw(ticket)
    outcome.notify(CancellationError())
    loan.decline()
    core.endAccepted()
  }
}

/// A transaction whose closure is running, as seen by tasks that are started in it.
final class RunningWrite: Sendable {
  @TaskLocal static var current: RunningWrite?

  private let core: WorkspaceCore
  private let types: TypeSet
  /// Whether a task awaits it. The task's cancellation is checked then, even if the closure runs on
  /// the task's thread.
  private let isAwaited: Bool
  private let hasEnded = Atomic(false)
  private let cancelled = Atomic(false)

  init(_ core: WorkspaceCore, _ types: TypeSet, isAwaited: Bool) {
    self.core = core
    self.types = types
    self.isAwaited = isAwaited
  }

  /// Whether a transaction over these types would wait for this one.
  func contains(_ types: TypeSet, of core: WorkspaceCore) -> Bool {
    core === self.core && !hasEnded.load(ordering: .acquiring)
      && !types.isDisjoint(with: self.types)
  }

  /// Runs the closure, possibly for a second time.
  func call(_ body: (WriteContext) throws -> Void, in transaction: Transaction) {
    if isCancelled { return transaction.fail(CancellationError()) }
    hasEnded.store(false, ordering: .releasing)
    let context = WriteContext(transaction)
    Self.$current.withValue(self) {
      do {
        try transaction.takePrecedence()
        try body(context)
        try context.requireTypes()
      } catch { transaction.fail(error) }
    }
    context.scope.close()
    hasEnded.store(true, ordering: .releasing)
    if isCancelled { transaction.fail(CancellationError()) }
  }

  private var isCancelled: Bool { wasCancelled() || isAwaited && Task.isCancelled }

  /// Whether it was cancelled; on any thread.
  @Sendable func wasCancelled() -> Bool { cancelled.load(ordering: .acquiring) }

  func cancel() { cancelled.store(true, ordering: .releasing) }
}
