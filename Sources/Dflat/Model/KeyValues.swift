// KeyValues: a primary key as plain values.

/// The values of a primary key's fields, in order.
public struct KeyValues: Sendable {
  /// The value of the first field.
  public let first: Value
  /// The values of the other fields.
  public let rest: [Value]

  /// A key of these values.
  @inlinable
  public init(first: Value, rest: [Value]) {
    self.first = first
    self.rest = rest
  }
}
