// StoredValue: the types that are stored as they are, and their conversion from untyped values.

/// A type that fields store as it is: `Bool`, the fixed-width integers, `Float`, `Double`,
/// `String`.
///
/// Programs do not add conformances; see ``StorableValue``.
public protocol StoredValue: DflatFriendlyValue, Codable {
  /// The value as this type; nil if it is of another family.
  init?(_value: Value)
}

extension StoredValue {
  /// The value as this type; nil if it is of another family.
  public static func _reading(_ value: Value) -> Self? { Self(_value: value) }
}

extension Bool: StoredValue {
  /// The value as this type; nil if it is of another family.
  public init?(_value: Value) {
    guard case .bool(let value) = _value else { return nil }
    self = value
  }
}

extension FixedWidthInteger where Self: StoredValue {
  /// Integers are compared by value.
  public typealias TypeFamily = IntegerFamily
  /// The untyped form of this value. `UInt64` has its own.
  @inlinable
  public var _value: Value { .integer(Int64(self)) }
  /// The value as this type; nil if it is of another family.
  public init?(_value: Value) {
    switch _value {
    case .integer(let value): self.init(exactly: value)
    case .unsigned(let value): self.init(exactly: value)
    case .bool, .real, .string: return nil
    }
  }
}

extension Int8: StoredValue {}
extension UInt8: StoredValue {}
extension Int16: StoredValue {}
extension UInt16: StoredValue {}
extension Int32: StoredValue {}
extension UInt32: StoredValue {}
extension Int64: StoredValue {}
extension UInt64: StoredValue {}

extension Float: StoredValue {
  /// The value as this type; nil if it is of another family.
  public init?(_value: Value) {
    guard case .real(let value) = _value else { return nil }
    self.init(value)
  }
}

extension Double: StoredValue {
  /// The value as this type; nil if it is of another family.
  public init?(_value: Value) {
    guard case .real(let value) = _value else { return nil }
    self = value
  }
}

extension String: StoredValue {
  /// The value as this type; nil if it is of another family.
  public init?(_value: Value) {
    guard case .string(let value) = _value else { return nil }
    self = value
  }
}
