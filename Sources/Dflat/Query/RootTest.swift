// RootTest: a condition that compares one integer field of the root table with a constant.
//
// It is the most common condition of scans, so it is evaluated without the program.

import FlatBuffersRuntime

struct RootTest {
  private let offset: Int
  private let type: ValueType
  private let comparison: ComparisonOperator
  private let constant: Int64
  /// The result for a row without the field.
  private let absent: Ternary

  /// - Parameter instruction: A `compareRootInteger`.
  @inline(__always)
  init(_ instruction: Instruction) {
    offset = Int(instruction.offset)
    type = instruction.type
    comparison = instruction.comparison
    constant = instruction.constant
    absent =
      instruction.hasDefault
      ? Ternary(comparison.holds(Int64(bitPattern: instruction.bits), constant)) : .unknown
  }

  @inline(__always)
  func evaluate(_ table: TableReader) -> Ternary {
    let position = table.locate(offset, size: type.size)
    if position == 0 { return absent }
    guard position > 0 else { return .unknown }
    return Ternary(comparison.holds(table.integer(type, at: position), constant))
  }
}

extension Program {
  /// The whole program as such a condition; nil if it is another one.
  var rootTest: RootTest? {
    guard instructions.count == 1, instructions[0].operation == .compareRootInteger else {
      return nil
    }
    return RootTest(instructions[0])
  }
}
