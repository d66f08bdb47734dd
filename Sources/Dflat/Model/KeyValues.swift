// KeyValues: a primary key as untyped values.

/// The values of a primary key's fields, in order.
public struct KeyValues: Sendable {
  /// The value of the first field.
  public let first: Value
  /// The values of the other fields.
  public let rest: [Value]

  /// Creates a key from its values.
  @inlinable
  public init(first: Value, rest: [Value]) {
    self.first = first
    self.rest = rest
  }
}
