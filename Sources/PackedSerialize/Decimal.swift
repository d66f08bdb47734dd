// Decimals: bytes that sort like the numbers, the same as a field and as a key.
//
//  - One byte for the kind of number: 1 negative, 2 zero, 3 positive, 4 not a number. Only negative
//    and positive numbers have more bytes.
//  - The exponent e of the number written as 0.d₁d₂… × 10ᵉ with d₁ ≠ 0, as an `Int16`.
//  - The digits without the zeros at their end, two in a byte, as a number from 1 to 100; a last
//    digit alone is followed by 0. Then a 0.
//  - For negative numbers, all bits behind the first byte are flipped.
//
// So each number has one form, and numbers that are equal have equal bytes.

public import Foundation

extension Decimal: Serializable, Deserializable {
  private enum Kind: UInt8 { case negative = 1, zero, positive, notANumber }

  /// From 1 to 24.
  public var serializedSize: Int { packedBytes.count }

  private var packedBytes: [UInt8] {
    if isNaN { return [Kind.notANumber.rawValue] }
    if isZero { return [Kind.zero.rawValue] }
    // The text has all digits, and neither an exponent nor separators of thousands.
    let parts = magnitude.description.split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts[0].drop { $0 == "0" }
    let fraction = parts.count > 1 ? parts[1] : ""
    let small = fraction.drop { $0 == "0" }
    let exponent = whole.isEmpty ? small.count - fraction.count : whole.count
    let digits = (String(whole) + (whole.isEmpty ? small : fraction)).utf8
      .map { $0 - UInt8(ascii: "0") }
    let significant = digits[...(digits.lastIndex { $0 != 0 } ?? 0)]
    let isNegative = self < 0
    let kind: Kind = isNegative ? .negative : .positive
    var bytes = [kind.rawValue]
    let sortable = UInt16(bitPattern: Int16(exponent) ^ .min)
    bytes += [UInt8(sortable >> 8), UInt8(truncatingIfNeeded: sortable)]
    for first in stride(from: 0, to: significant.count, by: 2) {
      let second = first + 1 < significant.count ? significant[first + 1] : 0
      bytes.append(significant[first] * 10 + second + 1)
    }
    bytes.append(0)
    return isNegative ? bytes[..<1] + bytes[1...].map(~) : bytes
  }

  /// Writes the number.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    packedBytes.withUnsafeBytes { buffer.write($0) }
  }

  /// Writes the number, but fails for what is not a number.
  ///
  /// - Parameter writer: The key.
  public func serializeKey(to writer: inout KeyWriter) {
    if isNaN { return writer.refuse(.notANumber) }
    packedBytes.withUnsafeBytes { writer.write(bytes: $0) }
  }

  /// Rejects what is not a number in a key.
  ///
  /// - Parameter form: The form that the number is checked for.
  /// - Throws: `notANumber`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if form == .key && isNaN { throw .notANumber }
  }

  /// True.
  public static var keepsValuesDistinct: Bool { true }

  /// Reads a number.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `endOfBufferReached` if there are too few bytes, `invalidValue` for bytes that no
  ///   number is written as.
  /// - Returns: The number.
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Decimal {
    guard let kind = Kind(rawValue: try UInt8.unpack(with: &deserializer)) else {
      throw .invalidValue
    }
    if kind == .notANumber { return .nan }
    if kind == .zero { return 0 }
    let mask: UInt8 = kind == .negative ? 0xFF : 0
    var bytes = [kind.rawValue]
    for _ in 0..<2 { bytes.append(try UInt8.unpack(with: &deserializer)) }
    let sortable = UInt16(bytes[1] ^ mask) << 8 | UInt16(bytes[2] ^ mask)
    var digits = ""
    while true {
      let byte = try UInt8.unpack(with: &deserializer)
      bytes.append(byte)
      let pair = byte ^ mask
      if pair == 0 { break }
      // A decimal has at most 39 digits.
      guard pair <= 100, digits.utf8.count < 40 else { throw .invalidValue }
      digits += pair <= 10 ? "0\(pair - 1)" : "\(pair - 1)"
    }
    if digits.hasSuffix("0") { digits.removeLast() }
    let exponent = Int(Int16(bitPattern: sortable) ^ .min) - digits.utf8.count
    // The exponent of a decimal is at most 127; the digits may end with zeros.
    let zeros = String(repeating: "0", count: min(40, max(0, exponent - 127)))
    let sign = kind == .negative ? "-" : ""
    let text = "\(sign)\(digits)\(zeros)E\(exponent - zeros.utf8.count)"
    guard let number = Decimal(string: text), number.packedBytes == bytes else {
      throw .invalidValue
    }
    return number
  }
}
