// The Swift types whose values conditions can have.

/// A type that fields, constants and expressions in conditions may have. It supports `==`, `!=`,
/// `in` and `isNull`.
///
/// It may be stored as another type. Two values are equal exactly if their stored values are. If
/// they are also ordered like their stored values, the type conforms to ``DflatFriendlyValue``.
public protocol QueryValue: OperandOfAnotherType, PrimaryKey {
  /// How values of this type are stored and compared.
  static var _valueType: ValueType { get }
  /// The untyped form of this value.
  var _value: Value { get }
  /// The value with an untyped form; nil if there is none, or if that depends on the field.
  static func _reading(_ value: Value) -> Self?
  /// What expressions of this type can be compared with: expressions of the types with the same
  /// family. All integers have one; every other type is its own.
  associatedtype TypeFamily = Self
}

extension QueryValue {
  /// nil: how values are stored depends on the field, whose form reads them.
  public static func _reading(_ value: Value) -> Self? { nil }
}

/// The family of the integer types, which are compared by value.
public enum IntegerFamily {}

/// A type whose values conditions can also compare with `<`, and by which results can be ordered.
///
/// The standard types of schemas conform: `Bool`, the fixed-width integers, `Float`, `Double`,
/// `String`. Generated enums conform too. Programs do not add conformances of their own.
public protocol DflatFriendlyValue: QueryValue, Comparable {}

extension Bool: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .bool }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .bool(self) }
}
// A field has this type only if its schema says so, `likes: int (swift: "Int")`; its form then
// converts constants. `Int` is also the compiler's default type for integer literals. If it did not
// conform, the compiler would consider the operators of conditions unsuitable for `Post.likes + 1`
// and try all others first.
extension Int: DflatFriendlyValue {
  /// Integers are compared by value.
  public typealias TypeFamily = IntegerFamily
  /// As `Int64`.
  @inlinable public static var _valueType: ValueType { .int64 }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .integer(Int64(self)) }
  /// The number; nil if it does not fit.
  public static func _reading(_ value: Value) -> Int? {
    switch value {
    case .integer(let number): Int(exactly: number)
    case .unsigned(let number): Int(exactly: number)
    case .bool, .real, .string: nil
    }
  }
}
extension Int8: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int8 }
}
extension UInt8: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint8 }
}
extension Int16: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int16 }
}
extension UInt16: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint16 }
}
extension Int32: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int32 }
}
extension UInt32: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint32 }
}
extension Int64: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int64 }
}
extension UInt64: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint64 }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .unsigned(self) }
}
extension Float: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .float }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .real(Double(self)) }
}
extension Double: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .double }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .real(self) }
}
extension String: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .string }
  /// The untyped form of this value.
  @inlinable public var _value: Value { .string(self) }
}
