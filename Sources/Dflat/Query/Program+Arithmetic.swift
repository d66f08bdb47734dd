// Arithmetic of programs on integers: exact results, or none.

extension Instruction.Operation {
  /// Computes an exact result; nil if it does not fit.
  func exact<T: FixedWidthInteger>(_ left: T, _ right: T) -> T? {
    let (value, overflow) =
      switch self {
      case .add: left.addingReportingOverflow(right)
      case .subtract: left.subtractingReportingOverflow(right)
      case .multiply: left.multipliedReportingOverflow(by: right)
      case .divide: left.dividedReportingOverflow(by: right)
      default:
        // The only remainder that fits but is reported as overflow, because its quotient overflows.
        T.isSigned && right == 0 - 1
          ? (0, false) : left.remainderReportingOverflow(dividingBy: right)
      }
    return overflow ? nil : value
  }

  /// The negated number or its magnitude; nil if it does not fit the type.
  func exact(_ value: Int64, _ type: ValueType) -> Int64? {
    if type == .uint64 { return self == .magnitude || value == 0 ? value : nil }
    if self == .magnitude, value >= 0 { return value }
    return value == .min ? nil : type.fitting(-value)
  }
}

extension ValueType {
  /// The value if this type can hold it.
  func fitting(_ value: Int64) -> Int64? {
    let fits =
      switch self {
      case .int8: Int8(exactly: value) != nil
      case .uint8: UInt8(exactly: value) != nil
      case .int16: Int16(exactly: value) != nil
      case .uint16: UInt16(exactly: value) != nil
      case .int32: Int32(exactly: value) != nil
      case .uint32: UInt32(exactly: value) != nil
      default: true
      }
    return fits ? value : nil
  }
}
