// Numbers in the text of a query, which take the type of what they are compared with.

import Dflat

/// A number as it is written.
struct QueryNumber {
  private let text: String
  private var isNegative = false

  /// - Parameter text: Digits, perhaps with a fraction and an exponent, `nan` or `inf`.
  init(_ text: String) {
    self.text = text
  }

  /// The number with the other sign.
  var negated: QueryNumber {
    var number = self
    number.isNegative.toggle()
    return number
  }

  private var signed: String { (isNegative ? "-" : "") + text }

  /// The number as a value of a type of numbers.
  func fit(_ type: ValueType) -> QueryBinder.Fit {
    switch type {
    case .float:
      let number = Float(signed) ?? .nan
      return .value(.real(Double(number)))
    case .double: return .value(.real(Double(signed) ?? .nan))
    default: break
    }
    if let whole = Int128(signed) { return Self.fit(whole, type) }
    let number = Double(signed) ?? .nan
    if number.isNaN { return .unordered }
    guard let floor = Int128(exactly: number.rounded(.down)) else {
      return number < 0 ? .tooSmall : .tooGreat
    }
    let fit = Self.fit(floor, type)
    if case .value(let value) = fit, Double(floor) != number { return .between(value) }
    return fit
  }

  private static func fit(_ number: Int128, _ type: ValueType) -> QueryBinder.Fit {
    let range: ClosedRange<Int128> =
      switch type {
      case .int8: Int128(Int8.min)...Int128(Int8.max)
      case .uint8: 0...Int128(UInt8.max)
      case .int16: Int128(Int16.min)...Int128(Int16.max)
      case .uint16: 0...Int128(UInt16.max)
      case .int32: Int128(Int32.min)...Int128(Int32.max)
      case .uint32: 0...Int128(UInt32.max)
      case .uint64: 0...Int128(UInt64.max)
      default: Int128(Int64.min)...Int128(Int64.max)
      }
    if number < range.lowerBound { return .tooSmall }
    if number > range.upperBound { return .tooGreat }
    return .value(type == .uint64 ? .unsigned(UInt64(number)) : .integer(Int64(number)))
  }
}
