// WideSum: an exact sum of 64-bit integers.
//
// It has 128 bits, so no sum of fewer than 2⁶³ values overflows. Values can be subtracted again,
// which maintains the sum of an observed result.

struct WideSum: Sendable {
  private var high: Int64 = 0
  private var low: UInt64 = 0

  @inline(__always)
  mutating func add(_ value: Int64) {
    add(high: value >> 63, low: UInt64(bitPattern: value))
  }

  @inline(__always)
  mutating func add(_ value: UInt64) { add(high: 0, low: value) }

  mutating func add(_ other: WideSum) { add(high: other.high, low: other.low) }

  mutating func subtract(_ value: Int64) {
    subtract(high: value >> 63, low: UInt64(bitPattern: value))
  }

  mutating func subtract(_ value: UInt64) { subtract(high: 0, low: value) }

  @inline(__always)
  private mutating func add(high: Int64, low: UInt64) {
    let (sum, overflow) = self.low.addingReportingOverflow(low)
    self.low = sum
    self.high &+= high &+ (overflow ? 1 : 0)
  }

  private mutating func subtract(high: Int64, low: UInt64) {
    let (difference, overflow) = self.low.subtractingReportingOverflow(low)
    self.low = difference
    self.high &-= high &+ (overflow ? 1 : 0)
  }

  /// The sum; nil if it does not fit.
  var signed: Int64? {
    let value = Int64(bitPattern: low)
    return high == value >> 63 ? value : nil
  }

  /// The sum; nil if it does not fit.
  var unsigned: UInt64? { high == 0 ? low : nil }

  /// The sum, rounded.
  var real: Double {
    // A small negative number would lose its digits in the difference of two great ones.
    if let signed { return Double(signed) }
    return Double(high) * 0x1p64 + Double(low)
  }
}
