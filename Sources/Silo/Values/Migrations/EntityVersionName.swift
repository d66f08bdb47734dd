// EntityVersionName: a version of a stored value, for messages.

/// A version of a stored value.
public struct EntityVersionName: Sendable, Equatable, CustomStringConvertible {
  /// The table without the version.
  public let table: String
  /// The version.
  public let number: Int
  /// The Swift type.
  public let type: String

  /// The type, table and version.
  public var description: String { "\(type) (version \(number) of \(table))" }
}
