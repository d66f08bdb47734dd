// IndexProgress: how far indexes are built.

/// How far the indexes of an entity type are built.
public struct IndexProgress: Sendable, Equatable {
  /// Index rows that the last step has filled.
  public let filled: Int
  /// Objects that the index which is furthest behind does not reach yet.
  public let remaining: Int
  /// Side tables that cannot be completed, since stored objects have equal values of a unique field.
  public let blocked: [String]

  /// A state of a build, as an engine tells it.
  public init(filled: Int, remaining: Int, blocked: [String]) {
    self.filled = filled
    self.remaining = remaining
    self.blocked = blocked
  }

  /// Whether there is nothing more that a step could do.
  public var isFinished: Bool { remaining == 0 }
}
