// StoredForm: how values of a Swift type are stored in a field.
//
// A field's form is part of its layout. Generated code and conditions convert values with it, so
// that all other code sees stored values only.

/// How values of a Swift type are stored in a field. For generated code; programs conform to
/// ``StorableValue``.
public protocol StoredForm: SendableMetatype {
  /// The type in Swift.
  associatedtype Value: QueryValue
  /// The type in the schema.
  associatedtype Stored: StoredValue
  /// The value with a given stored form; nil if there is none.
  static func value(_ stored: Stored) -> Value?
  /// The stored form of a value; nil if it does not fit.
  static func stored(_ value: Value) -> Stored?
  /// The value of a field that is not optional if `value` returns nil.
  static var unreadable: Value { get }
  /// Whether a value that does not fit is less or greater than all that do.
  static func conversionFailure(_ value: Value) -> ConversionFailure
  /// A value as text for messages.
  static func text(_ value: Value) -> String
}

/// Why a value cannot be stored.
public enum ConversionFailure: Sendable {
  /// The value is less than all that fit.
  case tooSmall
  /// The value is greater than all that fit.
  case tooGreat
  /// The value has no place in the order, such as a date that is NaN.
  case unordered
}

extension StoredForm {
  /// The value's own description.
  public static func text(_ value: Value) -> String { "\(value)" }

  /// The value with a given stored form, or `unreadable`.
  @inlinable
  public static func _reading(_ stored: Stored) -> Value { value(stored) ?? unreadable }
}

/// The form of the program's own types.
public enum CustomRepresentation<Value: StorableValue>: StoredForm {
  /// The value with a given stored form; nil if there is none.
  @inlinable public static func value(_ stored: Value.Stored) -> Value? { Value(stored: stored) }
  /// The stored form of a value.
  @inlinable public static func stored(_ value: Value) -> Value.Stored? { value.stored }
  /// The value of a field that is not optional if `value` returns nil.
  @inlinable public static var unreadable: Value { Value.unreadable }
  /// Every value fits.
  public static func conversionFailure(_ value: Value) -> ConversionFailure { .unordered }
}

/// The form of an `Int` in a field of any integer type.
public enum IntForm<Stored: StoredValue & FixedWidthInteger>: StoredForm {
  /// The number; nil if it does not fit an `Int`.
  @inlinable public static func value(_ stored: Stored) -> Int? { Int(exactly: stored) }
  /// The stored number; nil if it does not fit.
  @inlinable public static func stored(_ value: Int) -> Stored? { Stored(exactly: value) }
  /// The greatest `Int`, since only greater numbers cannot be read.
  @inlinable public static var unreadable: Int { .max }
  /// Whether a number is less or greater than all numbers that fit.
  public static func conversionFailure(_ value: Int) -> ConversionFailure {
    value < Stored.min ? .tooSmall : .tooGreat
  }
}
