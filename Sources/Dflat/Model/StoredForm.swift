// StoredForm: how a Swift type is stored in a field of a certain type.
//
// A field's form is part of its layout. Generated code converts by it; conditions convert their constants by it, so that one step
// inside there are only the values that are stored.

/// How values of a Swift type are stored in a field. For generated code; programs conform to ``StorableValue``.
public protocol StoredForm: SendableMetatype {
  /// The type in Swift.
  associatedtype Value: QueryValue
  /// The type in the schema.
  associatedtype Stored: StoredValue
  /// The value that is stored so; nil if there is none.
  static func value(_ stored: Stored) -> Value?
  /// What is stored for a value; nil if it does not fit.
  static func stored(_ value: Value) -> Stored?
  /// What a field that is not optional reads as where `value` gives nil.
  static var unreadable: Value { get }
  /// On which side of all that fit a value lies that does not.
  static func misfit(_ value: Value) -> Misfit
  /// A value in words.
  static func text(_ value: Value) -> String
}

/// Why a value cannot be stored.
public enum Misfit: Sendable {
  /// It is less than all that can.
  case tooSmall
  /// It is greater than all that can.
  case tooGreat
  /// It has no place in the order, as a date that is NaN.
  case unordered
}

extension StoredForm {
  /// As the value describes itself.
  public static func text(_ value: Value) -> String { "\(value)" }

  /// The value that is stored so, or what stands for it.
  @inlinable
  public static func _reading(_ stored: Stored) -> Value { value(stored) ?? unreadable }
}

/// The form of a type of the program's own.
public enum OwnForm<Value: StorableValue>: StoredForm {
  /// The value that is stored so; nil if there is none.
  @inlinable public static func value(_ stored: Value.Stored) -> Value? { Value(stored: stored) }
  /// What is stored for a value.
  @inlinable public static func stored(_ value: Value) -> Value.Stored? { value.stored }
  /// What a field that is not optional reads as where `value` gives nil.
  @inlinable public static var unreadable: Value { Value.unreadable }
  /// Every value fits.
  public static func misfit(_ value: Value) -> Misfit { .unordered }
}

/// The form of an `Int` in a field of any integer type.
public enum IntForm<Stored: StoredValue & FixedWidthInteger>: StoredForm {
  /// The number; nil if no `Int` is so great.
  @inlinable public static func value(_ stored: Stored) -> Int? { Int(exactly: stored) }
  /// The number as it is stored; nil if it does not fit.
  @inlinable public static func stored(_ value: Int) -> Stored? { Stored(exactly: value) }
  /// The greatest `Int`: only greater numbers cannot be read.
  @inlinable public static var unreadable: Int { .max }
  /// On which side of all that fit a number lies.
  public static func misfit(_ value: Int) -> Misfit {
    value < Stored.min ? .tooSmall : .tooGreat
  }
}
