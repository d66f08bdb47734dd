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

  /// Creates a progress report, for engines.
  package init(filled: Int, remaining: Int, blocked: [String]) {
    self.filled = filled
    self.remaining = remaining
    self.blocked = blocked
  }

  /// Whether no further step has anything to do.
  public var isFinished: Bool { remaining == 0 }
}
