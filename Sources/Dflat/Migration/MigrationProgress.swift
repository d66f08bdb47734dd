// MigrationProgress: how far a migration has come, in its last step and as a whole.

/// How far a migration has come.
///
///     for try await progress in dflat.migrationProgress(migration) {
///       show(progress.fractionCompleted)
///     }
public struct MigrationProgress: Sendable, Equatable {
  /// How many old objects the last step has migrated.
  public let migrated: Int
  /// How many old objects are left, at most: ids of objects that were removed count, too.
  public let remaining: Int
  /// How many old objects all steps have migrated, the last one included, since this workspace began.
  public let completed: Int

  /// A state of a migration.
  ///
  /// - Parameters:
  ///   - migrated: How many objects the last step has migrated.
  ///   - remaining: How many are left, at most.
  ///   - completed: How many all steps have migrated; as many as the last step if nothing is said.
  public init(migrated: Int, remaining: Int, completed: Int? = nil) {
    self.migrated = migrated
    self.remaining = remaining
    self.completed = completed ?? migrated
  }

  /// How many old objects there were when this workspace began, at most. It may become less on the way, since ``remaining`` may.
  public var total: Int { completed + remaining }

  /// How much of the whole is done, from 0 to 1.
  public var fractionCompleted: Double { isFinished ? 1 : Double(completed) / Double(total) }

  /// Whether nothing is left.
  public var isFinished: Bool { remaining == 0 }
}
