// TransactionLine: the order of transactions.
//
// One line for the whole workspace: jobs run one after another, in the order in which they were accepted. A job is accepted
// or refused under a lock, so a call comes either before the closing of the line or after it.
//
// Jobs leave their commit to the line, so that those which are waiting anyway share one: `settle` is called when nobody waits
// any more, and in between when it says that it is due. There are no timers: an idle line settles at once.

import Dispatch
import Synchronization

final class TransactionLine: Sendable {
  typealias Job = @Sendable () -> Void

  fileprivate struct State {
    var waiting: [Job] = []
    /// The first of `waiting` that has not run yet.
    var next = 0
    /// Whether the line is on its queue, or about to be.
    var isRunning = false
    var isClosed = false
    var last: Job?
  }

  private let queue: DispatchQueue
  private let state = Mutex(State())
  /// Ends what jobs have left open. With `force` false only if enough has been left.
  /// Returns whether it has ended something.
  private let settle: @Sendable (_ force: Bool) -> Bool

  init(target: DispatchQueue, settle: @escaping @Sendable (_ force: Bool) -> Bool) {
    queue = DispatchQueue(label: "dflat.line", target: target)
    self.settle = settle
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Puts a job at the end of the line.
  /// - Returns: False if the line is closed; the job will not run.
  func enqueue(_ job: @escaping Job) -> Bool {
    let (isAccepted, mustStart) = state.withLock { state in
      if state.isClosed { return (false, false) }
      state.waiting.append(job)
      return (true, state.start())
    }
    if mustStart { queue.async { self.run() } }
    return isAccepted
  }

  /// Closes the line. `last` runs after all jobs, on the line, unless it was closed before.
  /// - Returns: Whether this call closed it.
  func close(_ last: @escaping Job) -> Bool {
    let (isFirst, mustStart) = state.withLock { state in
      if state.isClosed { return (false, false) }
      state.isClosed = true
      state.last = last
      return (true, state.start())
    }
    if mustStart { queue.async { self.run() } }
    return isFirst
  }

  /// Runs jobs until nobody waits. After each settling it goes to the end of its queue, which others may share.
  private func run() {
    while true {
      if let job = state.withLock({ $0.take() }) {
        job()
        if settle(false) { return queue.async { self.run() } }
        continue
      }
      _ = settle(true)
      // Completion handlers may have put new jobs in.
      let (isDone, last) = state.withLock { $0.stop() }
      last?()
      if isDone { return }
    }
  }
}

extension TransactionLine.State {
  /// - Returns: Whether the line has to be put on its queue.
  mutating func start() -> Bool {
    if isRunning { return false }
    isRunning = true
    return true
  }

  mutating func take() -> TransactionLine.Job? {
    guard next < waiting.count else { return nil }
    let job = waiting[next]
    next += 1
    // What has run is let go of now and then, so that taking costs the same for any length.
    if next == waiting.count || next > 256 {
      waiting.removeFirst(next)
      next = 0
    }
    return job
  }

  /// - Returns: Whether the line stops because nobody waits, and what is to run last.
  mutating func stop() -> (Bool, TransactionLine.Job?) {
    guard next == waiting.count else { return (false, nil) }
    isRunning = false
    let last = last
    self.last = nil
    return (true, last)
  }
}
