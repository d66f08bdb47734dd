// OpenSnapshots: which states readers of this workspace keep, for the checkpoints of the WAL.
//
// Those that read the whole file, as backups and checks do, are counted only: they take as long as
// the file is large, so no transaction may wait for a checkpoint that waits for them.

import Platform

/// When each open snapshot took its state.
final class OpenSnapshots: Sendable {
  private typealias Opened = (time: ContinuousClock.Instant, isTransaction: Bool)
  private let opened = Mutex<[ObjectIdentifier: Opened]>([:])
  private let readingWhole = Atomic(0)

  var oldest: ContinuousClock.Instant? { opened.withLock { $0.values.lazy.map(\.time).min() } }

  /// Whether there are snapshots of transactions that have not begun to write.
  var areTransactions: Bool { opened.withLock { $0.values.contains(where: \.isTransaction) } }

  /// Whether something reads the whole file.
  var isReadingWhole: Bool { readingWhole.load(ordering: .acquiring) > 0 }

  /// Calls `body`, which reads the whole file.
  func whileReadingWhole<R>(_ body: () throws -> R) rethrows -> R {
    readingWhole.wrappingAdd(1, ordering: .acquiringAndReleasing)
    defer { readingWhole.wrappingSubtract(1, ordering: .acquiringAndReleasing) }
    return try body()
  }

  func add(_ snapshot: SQLiteSnapshot, isTransaction: Bool) {
    opened.withLock { $0[ObjectIdentifier(snapshot)] = (.now, isTransaction) }
  }

  func remove(_ snapshot: SQLiteSnapshot) {
    opened.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(snapshot)) }
  }
}
