// OwnReports: errors of the engine's own work, on their way to the workspace's error hook.

import Dflat
import Platform

final class OwnReports: Sendable {
  private let reporter = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  private let reported = Mutex<Set<String>>([])

  /// Sets the function that receives them.
  func connect(_ report: @escaping @Sendable (any Error) -> Void) {
    reporter.withLock { $0 = report }
  }

  func report(_ error: any Error) { reporter.withLock { $0 }?(error) }

  /// Reports each error only once.
  func reportOnce(_ error: StorageError) {
    if reported.withLock({ $0.insert("\(error)").inserted }) { report(error) }
  }
}
