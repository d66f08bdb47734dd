// MigrationProgress: the progress of a migration, in its last step and as a whole.

/// The progress of a migration.
///
///     for try await progress in dflat.migrationProgress(migration) {
///       show(progress.fractionCompleted)
///     }
public struct MigrationProgress: Sendable, Equatable {
  /// How many old objects the last step has migrated.
  public let migrated: Int
  /// How many old objects are left, at most: ids of deleted objects count, too.
  public let remaining: Int
  /// How many old objects all steps have migrated, including the last one, since this workspace was
  /// opened.
  public let completed: Int

  /// A state of a migration.
  ///
  /// - Parameters:
  ///   - migrated: How many objects the last step has migrated.
  ///   - remaining: How many are left, at most.
  ///   - completed: How many all steps have migrated; the same as `migrated` by default.
  package init(migrated: Int, remaining: Int, completed: Int? = nil) {
    self.migrated = migrated
    self.remaining = remaining
    self.completed = completed ?? migrated
  }

  /// How many old objects there were when this workspace was opened, at most. It may decrease
  /// during the migration, since ``remaining`` may.
  public var total: Int { completed + remaining }

  /// The completed fraction, from 0 to 1.
  public var fractionCompleted: Double { isFinished ? 1 : Double(completed) / Double(total) }

  /// Whether nothing is left.
  public var isFinished: Bool { remaining == 0 }
}
