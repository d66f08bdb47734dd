// Constants of shapes that are spelled differently and have one value: `1000` and `1_000`, `1` and
// `1.0`, `16` and `0x10`, `.red` and `Color.red`.
//
// Where it is not certain, two spellings are two values.

extension ShapeEntry {
  /// Whether the constants of two entries of one type are one value.
  func hasSameConstant(as other: ShapeEntry) -> Bool {
    guard let constant, let otherConstant = other.constant else {
      return self.constant == other.constant
    }
    return constant == otherConstant
      || Constant(constant, code: code).isSame(as: Constant(otherConstant, code: code))
  }

  /// Whether two cases of an enum with raw values have the same raw value.
  func hasSameRawValue(as other: ShapeEntry) -> Bool {
    if code != other.code { return false }
    return code == "S" ? rawText == other.rawText : hasSameConstant(as: other)
  }

  /// The raw value of a case of an enum of strings.
  private var rawText: String { constant?.removingShapeCodes ?? name }
}

/// A constant in a shape.
private struct Constant {
  private let text: String
  private let code: String

  init(_ text: String, code: String) {
    self.text = text.removingShapeCodes
    self.code = code
  }

  func isSame(as other: Constant) -> Bool {
    if let member { return member == other.member }
    return switch code {
    case "R": isSameNumber(as: other) { Double($0)?.bitPattern }
    case "R32": isSameNumber(as: other) { Float($0)?.bitPattern }
    // A literal with a fraction becomes a `Double` first, which has integers up to this.
    case "N":
      isSameNumber(as: other) { text in
        Double(text).flatMap { abs($0) < 0x1p53 ? $0 : nil }
      }
    case _ where "IW".contains(code.first ?? " ") && code.dropFirst().allSatisfy(\.isNumber):
      integer != nil && integer == other.integer
    default: false
    }
  }

  /// Whether the numbers are the same, as their type has them.
  private func isSameNumber<V: Equatable>(
    as other: Constant, _ value: (String) -> V?
  ) -> Bool {
    if let integer, let otherInteger = other.integer { return integer == otherInteger }
    guard let number = value(decimal), let otherNumber = value(other.decimal) else { return false }
    return number == otherNumber
  }

  /// A number as the standard library reads it.
  private var decimal: String { text.filter { $0 != "_" } }

  /// The value of an integer literal in any notation, with a sign perhaps: the digits of its
  /// decimal notation.
  private var integer: String? {
    var digits = text.filter { $0 != "_" }[...]
    let isNegative = digits.hasPrefix("-")
    if isNegative { digits = digits.dropFirst() }
    guard digits.first?.isNumber == true else { return nil }
    let radix = ["0x": 16, "0o": 8, "0b": 2][digits.prefix(2)]
    if radix != nil { digits = digits.dropFirst(2) }
    return UInt64(digits, radix: radix ?? 10).map { (isNegative && $0 > 0 ? "-" : "") + "\($0)" }
  }

  /// The name of a member of the constant's type, `.red` or `Color.red`; nil if it is none.
  private var member: Substring? {
    if code == "S" { return nil }
    let type = ["D": "Date", "N": "Decimal"][code] ?? code
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count > 1, let name = parts.last, name.first?.isNumber == false,
      name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }),
      parts.count == 2 && parts[0].isEmpty
        || parts[parts.count - 2] == type.split(separator: ".").last ?? ""
    else { return nil }
    return name
  }
}
