// Swift types that SQL can store.
//
// Each has one form. Reading accepts what means the same and nothing else: a value that would have
// to be cut, rounded or guessed is no value of the type.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A type whose values SQL can store: they can be bound to parameters and read from columns.
///
/// | type | stored as | read from |
/// | --- | --- | --- |
/// | `Bool` | the integers 0 and 1 | any integer; 0 is false |
/// | `Int`, `Int8` … `Int64`, `UInt8` … `UInt32` | an integer | an integer in the type's range |
/// | `Double`, `Float` | a floating-point number; NaN as `NULL` | any number |
/// | `String` | text | text |
/// | `Data`, `[UInt8]` | a blob | a blob |
/// | `Date` | a floating-point number: seconds since 1970 | any number |
/// | `UUID` | text: `uuidString`, in capitals | such a text, in any case; a blob of 16 bytes |
/// | an optional | the value, or `NULL` | both |
/// | ``SQLValue`` | itself | everything |
///
/// SQLite's own functions read a date with `datetime(x, 'unixepoch')`.
///
/// `UInt` and `UInt64` are not among them, because SQLite's integers have a sign: choose
/// `Int64(exactly:)`, or `Int64(bitPattern:)`, in whose order the upper half is negative.
///
/// An enumeration with raw values needs only to declare the conformance; other types say how:
///
/// ```swift
/// enum Priority: Int, SQLConvertible {
///   case low, high
/// }
///
/// struct Price: SQLConvertible {
///   var cents: Int64
///   init(cents: Int64) { self.cents = cents }
///   init?(sqlValue: SQLValue) {
///     guard let cents = sqlValue.integer else { return nil }
///     self.cents = cents
///   }
///   var sqlValue: SQLValue { .integer(cents) }
/// }
/// ```
public protocol SQLConvertible {
  /// The value that is stored.
  var sqlValue: SQLValue { get }
  /// The value that was stored; nil if `sqlValue` is none of this type.
  init?(sqlValue: SQLValue)
}

extension SQLConvertible where Self: RawRepresentable, RawValue: SQLConvertible {
  /// The raw value.
  public var sqlValue: SQLValue { rawValue.sqlValue }

  /// The value with this raw value; nil if there is none.
  public init?(sqlValue: SQLValue) {
    guard let rawValue = RawValue(sqlValue: sqlValue) else { return nil }
    self.init(rawValue: rawValue)
  }
}

extension SQLConvertible where Self: FixedWidthInteger {
  /// The integer.
  public var sqlValue: SQLValue { .integer(Int64(self)) }

  /// The integer; nil for another type of value, and for one out of range.
  public init?(sqlValue: SQLValue) {
    guard let integer = sqlValue.integer else { return nil }
    self.init(exactly: integer)
  }
}

extension Int: SQLConvertible {}
extension Int8: SQLConvertible {}
extension Int16: SQLConvertible {}
extension Int32: SQLConvertible {}
extension Int64: SQLConvertible {}
extension UInt8: SQLConvertible {}
extension UInt16: SQLConvertible {}
extension UInt32: SQLConvertible {}

extension Bool: SQLConvertible {
  /// 1 for true, 0 for false.
  public var sqlValue: SQLValue { .integer(self ? 1 : 0) }

  /// False for 0, true for other integers; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let integer = sqlValue.integer else { return nil }
    self = integer != 0
  }
}

extension Double: SQLConvertible {
  /// The number; `NULL` for NaN.
  public var sqlValue: SQLValue { isNaN ? .null : .real(self) }

  /// The number; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let number = sqlValue.real else { return nil }
    self = number
  }
}

extension Float: SQLConvertible {
  /// The number; `NULL` for NaN.
  public var sqlValue: SQLValue { Double(self).sqlValue }

  /// The nearest number; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let number = sqlValue.real else { return nil }
    self = Float(number)
  }
}

extension String: SQLConvertible {
  /// The text.
  public var sqlValue: SQLValue { .text(self) }

  /// The text; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let text = sqlValue.text else { return nil }
    self = text
  }
}

extension Array: SQLConvertible where Element == UInt8 {
  /// The bytes, as a blob.
  public var sqlValue: SQLValue { .blob(self) }

  /// The bytes of a blob; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let bytes = sqlValue.blob else { return nil }
    self = bytes
  }
}

extension Data: SQLConvertible {
  /// The bytes, as a blob.
  public var sqlValue: SQLValue { .blob([UInt8](self)) }

  /// The bytes of a blob; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let bytes = sqlValue.blob else { return nil }
    self.init(bytes)
  }
}

extension Date: SQLConvertible {
  /// The seconds since 1970, as a floating-point number.
  public var sqlValue: SQLValue { timeIntervalSince1970.sqlValue }

  /// The date so many seconds after the beginning of 1970; nil for another type of value.
  public init?(sqlValue: SQLValue) {
    guard let seconds = sqlValue.real else { return nil }
    self.init(timeIntervalSince1970: seconds)
  }
}

extension UUID: SQLConvertible {
  /// `uuidString`, in capitals.
  public var sqlValue: SQLValue { .text(uuidString) }

  /// The UUID of a text, or of a blob of 16 bytes; nil for other values.
  public init?(sqlValue: SQLValue) {
    switch sqlValue {
    case .text(let text): self.init(uuidString: text)
    case .blob(let bytes) where bytes.count == 16:
      self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    default: return nil
    }
  }
}

extension Optional: SQLConvertible where Wrapped: SQLConvertible {
  /// The value, or `NULL`.
  public var sqlValue: SQLValue { self?.sqlValue ?? .null }

  /// Nil for `NULL`, otherwise the value.
  public init?(sqlValue: SQLValue) {
    if sqlValue.isNull {
      self = nil
    } else {
      guard let value = Wrapped(sqlValue: sqlValue) else { return nil }
      self = .some(value)
    }
  }
}

extension SQLValue: SQLConvertible {
  /// The value itself.
  public var sqlValue: SQLValue { self }

  /// The value itself.
  public init(sqlValue: SQLValue) { self = sqlValue }

  /// The value as which SQL stores `value`.
  ///
  ///     try connection.execute("INSERT INTO visit VALUES (?)", [SQLValue(Date())])
  public init(_ value: some SQLConvertible) { self = value.sqlValue }
}
