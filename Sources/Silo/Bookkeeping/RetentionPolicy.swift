// RetentionPolicy: which values a silo keeps.

/// Which values a silo keeps by itself.
///
///     silos[Photo.self].retention = .recent(count: 5000, age: .days(30))
public struct RetentionPolicy: Sendable, Equatable {
  /// The greatest number of values.
  let count: Int?
  /// How long a value is kept after its last use.
  let age: Duration?
  /// The greatest number of bytes of all rows.
  let size: Int?

  /// Everything is kept.
  public static let everything = RetentionPolicy(count: nil, age: nil, size: nil)

  /// What was used recently is kept. The values that were used least recently go first, unless they
  /// are managed; see <doc:KeepingAndDeleting>.
  ///
  /// - Parameters:
  ///   - count: How many values are kept at most.
  ///   - age: How long a value is kept after its last use.
  ///   - size: How many bytes the rows of all values have at most, without indexes.
  public static func recent(
    count: Int? = nil, age: Duration? = nil, size: Int? = nil
  ) -> RetentionPolicy {
    precondition(
      count ?? 0 >= 0 && age ?? .zero >= .zero && size ?? 0 >= 0,
      "recent(count:age:size:) was called with a negative limit")
    return RetentionPolicy(count: count, age: age, size: size)
  }

  /// Whether the times of last use matter.
  var isLimited: Bool { self != .everything }
}
