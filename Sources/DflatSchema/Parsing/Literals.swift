// Number literals.
//
// Literals are exact: an integer literal is a sign and a 64-bit magnitude, so that range checks
// against every integer type need no wider type.

/// An integer as written: decimal or `0x…`, perhaps with a sign.
struct IntegerLiteral {
  var isNegative: Bool
  var magnitude: UInt64

  /// nil if `text` is not an integer, or needs more than 64 bits.
  init?(_ text: String) {
    var digits = Substring(text)
    isNegative = digits.first == "-"
    if digits.first == "-" || digits.first == "+" { digits.removeFirst() }
    let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
    if isHexadecimal { digits.removeFirst(2) }
    guard let first = digits.utf8.first, isHexadecimalDigit(first),
      let magnitude = UInt64(digits, radix: isHexadecimal ? 16 : 10)
    else { return nil }
    self.magnitude = magnitude
  }

  /// The value as a signed number, if it fits.
  var signed: Int64? {
    isNegative
      ? (magnitude <= UInt64(Int64.max) + 1 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil)
      : Int64(exactly: magnitude)
  }

  /// The value as an unsigned number, if it fits.
  var unsigned: UInt64? { isNegative && magnitude > 0 ? nil : magnitude }

  /// The value as 64 bits, if `type` can hold it; `bool` counts as `ubyte`.
  func pattern(for type: ScalarType) -> Int64? {
    switch type.integerRange {
    case .signed(let range):
      signed.flatMap { range.contains($0) ? $0 : nil }
    case .unsigned(let largest):
      unsigned.flatMap { $0 <= largest ? Int64(bitPattern: $0) : nil }
    case nil:
      nil
    }
  }
}

func ~= (range: ClosedRange<Int>, literal: IntegerLiteral) -> Bool { range.contains(literal) }

extension ClosedRange<Int> {
  func contains(_ literal: IntegerLiteral) -> Bool {
    literal.signed.map { contains(Int($0)) } ?? false
  }
}

/// The range of an integer type.
enum IntegerRange {
  case signed(ClosedRange<Int64>)
  case unsigned(UInt64)

  /// The range, worded for a message.
  var described: String {
    switch self {
    case .signed(let range): "\(range.lowerBound) to \(range.upperBound)"
    case .unsigned(let largest): "0 to \(largest)"
    }
  }
}

extension ScalarType {
  /// nil for `float` and `double`.
  var integerRange: IntegerRange? {
    switch self {
    case .bool, .ubyte: .unsigned(UInt64(UInt8.max))
    case .byte: .signed(Int64(Int8.min)...Int64(Int8.max))
    case .short: .signed(Int64(Int16.min)...Int64(Int16.max))
    case .ushort: .unsigned(UInt64(UInt16.max))
    case .int: .signed(Int64(Int32.min)...Int64(Int32.max))
    case .uint: .unsigned(UInt64(UInt32.max))
    case .long: .signed(Int64.min...Int64.max)
    case .ulong: .unsigned(UInt64.max)
    case .float, .double: nil
    }
  }

  var isUnsigned: Bool {
    if case .unsigned = integerRange { true } else { false }
  }

  /// The type with the schema name `name`.
  package init?(schemaName name: String) {
    switch name {
    case "int8": self = .byte
    case "uint8": self = .ubyte
    case "int16": self = .short
    case "uint16": self = .ushort
    case "int32": self = .int
    case "uint32": self = .uint
    case "int64": self = .long
    case "uint64": self = .ulong
    case "float32": self = .float
    case "float64": self = .double
    default: self.init(rawValue: name)
    }
  }
}

/// The value of a floating-point literal or word: decimal, hexadecimal with an exponent, `inf`,
/// `nan`.
///
/// A value that is too large becomes infinity, as in C.
func realValue<Real: BinaryFloatingPoint & LosslessStringConvertible>(
  _ text: String, as type: Real.Type
) -> Real? {
  var body = text.lowercased()[...]
  let isNegative = body.hasPrefix("-")
  if body.hasPrefix("-") || body.hasPrefix("+") { body.removeFirst() }
  let magnitude: Real
  switch body {
  case "inf", "infinity": magnitude = .infinity
  case "nan": return .nan
  default:
    let allowed = body.hasPrefix("0x") ? "0123456789abcdefxp.+-" : "0123456789e.+-"
    guard let first = body.utf8.first, isDigit(first) || first == UInt8(ascii: "."),
      body.allSatisfy(allowed.contains)
    else { return nil }
    // A hexadecimal number without an exponent is more likely a mistake than a real.
    if body.hasPrefix("0x"), !body.contains("p") { return nil }
    guard let value = Real(completed(body)) else { return nil }
    magnitude = value
  }
  return isNegative ? -magnitude : magnitude
}

/// Swift requires digits on both sides of the point; schemas do not.
private func completed(_ body: Substring) -> String {
  guard let point = body.firstIndex(of: ".") else { return String(body) }
  let isHexadecimal = body.hasPrefix("0x")
  var whole = String(body[..<point])
  var rest = String(body[body.index(after: point)...])
  if whole.isEmpty || (isHexadecimal && whole == "0x") { whole += "0" }
  let startsWithDigit =
    rest.utf8.first.map { isHexadecimal ? isHexadecimalDigit($0) : isDigit($0) } ?? false
  if !startsWithDigit { rest = "0" + rest }
  return whole + "." + rest
}
