// LeftOutObjects: the old objects that could not be migrated, where the others go on without them.

import Platform

/// The objects that a migration has left out. They are tried again by the next workspace.
package final class LeftOutObjects: Sendable {
  private let failures = Mutex<[Int64: MigrationError]>([:])

  private let mayLeaveOut: @Sendable (MigrationError) -> Bool

  /// - Parameter mayLeaveOut: Whether an object is left out. Other errors stop the migration.
  package init(where mayLeaveOut: @escaping @Sendable (MigrationError) -> Bool) {
    self.mayLeaveOut = mayLeaveOut
  }

  /// Why they could not be migrated, in the order of their rows.
  package var errors: [MigrationError] {
    failures.withLock { $0.values.sorted { $0.rowid < $1.rowid } }
  }

  /// Has all of them tried again.
  package func removeAll() { failures.withLock { $0 = [:] } }

  /// The ids of their rows.
  var ids: Set<Int64> { failures.withLock { Set($0.keys) } }

  /// Leaves an object out, if that is possible.
  /// - Returns: Whether it is left out.
  func add(_ failure: MigrationError) -> Bool {
    guard mayLeaveOut(failure) else { return false }
    failures.withLock { $0[failure.rowid] = failure }
    return true
  }
}
