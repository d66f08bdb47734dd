// ChangeNotifier: wakes up the workspaces that listen, after commits of this one.
//
// A notification is a transaction of its own, which waits for no disk and no standby: `ChangeLog`
// says why. No caller waits for it, and there is one at a time, so commits in quick succession
// share one. If it is lost, with its process or its connection, the listeners find the commits when
// they next look into the log by themselves.

import Dflat
import Dispatch
import Platform

final class ChangeNotifier: Sendable {
  private let pool: ConnectionPool
  private let statements: String
  private let report: @Sendable (StorageError) -> Void
  private let queue = DispatchQueue(label: "dflat.notifier")
  /// Whether a notification will begin that covers all commits until now.
  private let isPending = Atomic<Bool>(false)

  /// - Parameters:
  ///   - pool: Lends a connection.
  ///   - report: Called if the server refuses a notification.
  init(
    _ pool: ConnectionPool, _ log: ChangeLog, workspace: String,
    report: @escaping @Sendable (StorageError) -> Void
  ) {
    self.pool = pool
    statements = log.notify(by: workspace)
    self.report = report
  }

  /// Called after a commit that others may want to know of. Returns at once.
  func note() {
    if isPending.exchange(true, ordering: .acquiringAndReleasing) { return }
    queue.async { [self] in
      isPending.store(false, ordering: .sequentiallyConsistent)
      notify()
    }
  }

  private func notify() {
    for isLast in [false, true] {
      do {
        try pool.withConnection(beyondLimit: true) { try $0.commit(statements) }
        return
      } catch let error as PostgresError where error.isConnectionLost {
        // The listeners have lost theirs, too, or look into the log by themselves.
        if isLast { return }
        pool.closeIdle()
      } catch let error as PostgresError {
        return report(StorageError(error))
      } catch let error as StorageError {
        return report(error)
      } catch {
        // The pool is closed.
        return
      }
    }
  }

  /// Returns when all commits until now were notified.
  func close() { queue.sync {} }
}
