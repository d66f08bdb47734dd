// Keys and values: the terms shared by all stores and workloads.

/// The location of a value: a number within a space. A store keeps each space in its own type, and
/// transactions name spaces.
public struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The number of the space.
  public let space: Int
  /// The number within the space.
  public let number: Int64

  /// The key of a number in a space.
  public init(_ space: Int, _ number: Int64) {
    self.space = space
    self.number = number
  }

  /// By space, then by number.
  public static func < (left: Key, right: Key) -> Bool {
    (left.space, left.number) < (right.space, right.number)
  }

  /// For example `2/17`.
  public var description: String { "\(space)/\(number)" }

  /// Keys with the same group are found together, with an index.
  public var group: Int64 { number >> 2 }

  /// The keys of a group.
  public static func keys(of group: Int64, in space: Int) -> [Key] {
    (0..<4).map { Key(space, group << 2 + $0) }
  }
}

/// The content of a key: a list that grows, or a register whose last number identifies its version.
/// nil if it was never written.
public typealias CellValue = [Int64]
