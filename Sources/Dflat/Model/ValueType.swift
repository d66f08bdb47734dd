// The values that conditions, orders, keys and indexes are made of.
//
// One step inside the typed surface every operand is a `Value` with a `ValueType` beside it. A value is stored in the
// widest form of its family; the type says which numbers it may hold and how it is compared.

// Programs compare conditions on `Bool` fields with `<`.
@_exported public import StandardConformances

/// The type of a field or expression, as far as evaluation and storage are concerned.
@frozen
public enum ValueType: UInt8, Sendable, Hashable {
  case bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float, double, string

  /// Bytes on the wire; 0 for strings.
  @inlinable public var size: Int {
    switch self {
    case .bool, .int8, .uint8: 1
    case .int16, .uint16: 2
    case .int32, .uint32, .float: 4
    case .int64, .uint64, .double: 8
    case .string: 0
    }
  }
}

/// A constant of some `ValueType`.
///
/// All integers but `UInt64` are kept as `integer`; `Float` is kept widened, which is exact.
@frozen
public enum Value: Sendable {
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  case string(String)
}

/// A type that fields, constants and expressions of conditions may have: `==`, `!=`, `in`, `isNull` take it.
///
/// It may be stored as another type. Two values are equal exactly if what is stored for them is; if their order is that of what is
/// stored, too, the type conforms to ``DflatFriendlyValue``.
public protocol QueryValue: OperandOfAnotherType, PrimaryKey {
  /// How values of this type are stored and compared.
  static var _valueType: ValueType { get }
  /// This value without its type.
  var _value: Value { get }
}

/// A type whose values conditions compare by `<` as well, and results are ordered by.
///
/// The standard types of schemas conform: `Bool`, the fixed-width integers, `Float`, `Double`, `String`. Generated
/// enums conform too. Programs do not add conformances of their own.
public protocol DflatFriendlyValue: QueryValue, Comparable {}

extension Bool: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .bool }
  /// This value without its type.
  @inlinable public var _value: Value { .bool(self) }
}
// A field has this type only if its schema says so, `likes: int (swift: "Int")`; its form converts constants then. It is also what
// the compiler takes an integer literal for as long as it knows no better: if it did not conform, the operators of conditions would
// look wrong for `Post.likes + 1`, and the compiler would try all of the others first.
extension Int: DflatFriendlyValue {
  /// As `Int64`.
  @inlinable public static var _valueType: ValueType { .int64 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension Int8: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int8 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension UInt8: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint8 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension Int16: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int16 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension UInt16: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint16 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension Int32: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int32 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension UInt32: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint32 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(Int64(self)) }
}
extension Int64: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .int64 }
  /// This value without its type.
  @inlinable public var _value: Value { .integer(self) }
}
extension UInt64: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .uint64 }
  /// This value without its type.
  @inlinable public var _value: Value { .unsigned(self) }
}
extension Float: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .float }
  /// This value without its type.
  @inlinable public var _value: Value { .real(Double(self)) }
}
extension Double: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .double }
  /// This value without its type.
  @inlinable public var _value: Value { .real(self) }
}
extension String: DflatFriendlyValue {
  /// How values of this type are stored and compared.
  @inlinable public static var _valueType: ValueType { .string }
  /// This value without its type.
  @inlinable public var _value: Value { .string(self) }
}
