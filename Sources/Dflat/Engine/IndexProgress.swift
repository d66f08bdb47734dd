// IndexProgress: how much of the indexes is built.

/// How much of an entity type's indexes is built.
public struct IndexProgress: Sendable, Equatable {
  /// The number of index rows that the last step has filled.
  public let filled: Int
  /// The number of objects that the index furthest behind does not cover yet.
  public let remaining: Int
  /// Side tables that cannot be completed, since stored objects have equal values of a unique
  /// field.
  public let blocked: [String]
  /// Why those in `blocked` cannot be created, if no equal values are the reason.
  package let obstacle: StorageError?

  /// Creates a progress report, for engines.
  package init(filled: Int, remaining: Int, blocked: [String]) {
    self.filled = filled
    self.remaining = remaining
    self.blocked = blocked
    obstacle = nil
  }

  /// Creates a progress report of indexes that cannot be created.
  package init(filled: Int, remaining: Int, blocked: [String], obstacle: StorageError?) {
    self.filled = filled
    self.remaining = remaining
    self.blocked = blocked
    self.obstacle = obstacle
  }

  /// Whether two reports are the same, without the reasons.
  public static func == (left: IndexProgress, right: IndexProgress) -> Bool {
    left.filled == right.filled && left.remaining == right.remaining
      && left.blocked == right.blocked
  }

  /// Whether no further step has anything to do.
  public var isFinished: Bool { remaining == 0 }
}
