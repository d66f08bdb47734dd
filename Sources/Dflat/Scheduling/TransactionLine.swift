// TransactionLine: the order of transactions.
//
// One line for the whole workspace: jobs run one after another, in the order in which they were accepted. A job is accepted
// or refused under a lock, so a call comes either before the closing of the line or after it.

import Dispatch
import Synchronization

final class TransactionLine: Sendable {
  private let queue: DispatchQueue
  private let closed = Mutex(false)

  init(target: DispatchQueue) {
    queue = DispatchQueue(label: "dflat.line", target: target)
  }

  var isClosed: Bool { closed.withLock { $0 } }

  /// Puts a job at the end of the line.
  /// - Returns: False if the line is closed; the job will not run.
  func enqueue(_ job: @escaping @Sendable () -> Void) -> Bool {
    closed.withLock { isClosed in
      if isClosed { return false }
      queue.async(execute: job)
      return true
    }
  }

  /// Closes the line. `last` runs after all jobs, on the line, unless it was closed before.
  /// - Returns: Whether this call closed it.
  func close(_ last: @escaping @Sendable () -> Void) -> Bool {
    closed.withLock { isClosed in
      if isClosed { return false }
      isClosed = true
      queue.async(execute: last)
      return true
    }
  }
}
