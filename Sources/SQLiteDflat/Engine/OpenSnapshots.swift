// OpenSnapshots: which states readers of this workspace keep, for the checkpoints of the WAL.

import Platform

/// When each open snapshot took its state.
final class OpenSnapshots: Sendable {
  private typealias Opened = (time: ContinuousClock.Instant, isTransaction: Bool)
  private let opened = Mutex<[ObjectIdentifier: Opened]>([:])

  var oldest: ContinuousClock.Instant? { opened.withLock { $0.values.lazy.map(\.time).min() } }

  /// Whether there are snapshots of transactions that have not begun to write.
  var areTransactions: Bool { opened.withLock { $0.values.contains(where: \.isTransaction) } }

  func add(_ snapshot: SQLiteSnapshot, isTransaction: Bool) {
    opened.withLock { $0[ObjectIdentifier(snapshot)] = (.now, isTransaction) }
  }

  func remove(_ snapshot: SQLiteSnapshot) {
    opened.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(snapshot)) }
  }
}
