// One SQL value: the content of a column or parameter.
//
// This is the convenient form, for tools, tests and functions. Fast loops read and bind the columns
// of a `Statement` by type, without such values.

/// A value as SQLite stores it.
public enum SQLValue: Hashable, Sendable {
  /// `NULL`.
  case null
  /// A signed 64-bit integer.
  case integer(Int64)
  /// A floating-point number. SQLite stores a NaN as `NULL`.
  case real(Double)
  /// UTF-8 text. It may contain NUL.
  case text(String)
  /// Bytes.
  case blob([UInt8])
}

extension SQLValue {
  /// Whether this is `NULL`.
  public var isNull: Bool { self == .null }

  /// The integer, if this is one.
  public var integer: Int64? {
    if case .integer(let value) = self { value } else { nil }
  }

  /// The number, if this is an integer or a floating-point number.
  public var real: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .null, .text, .blob: nil
    }
  }

  /// The text, if this is one.
  public var text: String? {
    if case .text(let value) = self { value } else { nil }
  }

  /// The bytes, if this is a blob.
  public var blob: [UInt8]? {
    if case .blob(let value) = self { value } else { nil }
  }
}

extension SQLValue: ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }

  /// A floating-point number.
  public init(floatLiteral value: Double) { self = .real(value) }

  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }

  /// The integer 1 or 0, as SQL represents booleans.
  public init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension SQLValue: CustomStringConvertible {
  /// The value as SQL that gives it: a literal, or an expression for a text that contains NUL.
  /// Infinity is a number that is too large for SQLite, and a NaN is `NULL`, as it is stored.
  public var description: String {
    switch self {
    case .null: return "NULL"
    case .integer(let value): return String(value)
    case .real(let value):
      if value.isNaN { return "NULL" }
      return value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : String(value)
    case .text(let value):
      if value.utf8.contains(0) { return "CAST(\(Self.literal(Array(value.utf8))) AS TEXT)" }
      return value.quoted(by: "'")
    case .blob(let bytes): return Self.literal(bytes)
    }
  }

  private static func literal(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef")
    var text = "x'"
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text + "'"
  }
}
