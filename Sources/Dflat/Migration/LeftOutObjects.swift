// LeftOutObjects: the old objects that could not be migrated, where the others go on without them.

import Platform

/// The objects that could not be migrated, where a migration goes on without them; see
/// ``Migration/leavingOut(_:)``. They stay as they are, and are tried again when the workspace is
/// opened the next time. What transactions store or delete meanwhile under the keys of their
/// successors is newer, and holds.
///
/// All members may be called from any thread.
public final class LeftOutObjects: Sendable {
  /// By their tables, since a chain has several, and their rows.
  private let failures = Mutex<[String: [Int64: MigrationError]]>([:])

  private let mayLeaveOut: @Sendable (MigrationError) -> Bool
  private let reportable: @Sendable (MigrationError) -> (any Error)?
  /// What was decided about their successors in the meantime; nil if transactions note that.
  let decisions: (any MigrationDecisions)?

  /// Creates an empty collection, for one migration in one workspace.
  /// - Parameter mayLeaveOut: Whether an object with this error is left out; by default each is.
  ///   Otherwise the error stops the migration. Called on the thread of the migration.
  public init(where mayLeaveOut: @escaping @Sendable (MigrationError) -> Bool = { _ in true }) {
    self.mayLeaveOut = mayLeaveOut
    reportable = { $0 }
    decisions = nil
  }

  /// Creates an empty collection, for one migration in one workspace.
  /// - Parameters:
  ///   - mayLeaveOut: Whether an object with this error is left out.
  ///   - reportable: What is reported of an error; nil if nothing is.
  ///   - decisions: What was decided about the successors.
  package init(
    where mayLeaveOut: @escaping @Sendable (MigrationError) -> Bool,
    reporting reportable: @escaping @Sendable (MigrationError) -> (any Error)?,
    decisions: any MigrationDecisions
  ) {
    self.mayLeaveOut = mayLeaveOut
    self.reportable = reportable
    self.decisions = decisions
  }

  /// Why they could not be migrated, in the order of their tables and rows.
  public var errors: [MigrationError] {
    failures.withLock { $0.values.flatMap(\.values) }
      .sorted { ($0.table, $0.rowid) < ($1.table, $1.rowid) }
  }

  /// Whether transactions note the keys of what they change, since objects are left out.
  var notesKeys: Bool { decisions == nil && failures.withLock { !$0.isEmpty } }

  /// Forgets them, so that the next step of the migration tries them again.
  public func removeAll() { failures.withLock { $0 = [:] } }

  /// The ids of the rows in a table.
  func ids(in table: String) -> Set<Int64> {
    failures.withLock { $0[table].map { Set($0.keys) } ?? [] }
  }

  /// Reports an error.
  func report(_ failure: MigrationError, to hook: (any Error) -> Void) {
    if let error = reportable(failure) { hook(error) }
  }

  /// Leaves an object out, if that is possible.
  /// - Returns: Whether it is left out.
  func add(_ failure: MigrationError) -> Bool {
    guard mayLeaveOut(failure) else { return false }
    failures.withLock { $0[failure.table, default: [:]][failure.rowid] = failure }
    return true
  }
}
