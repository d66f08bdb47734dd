// RootTest: a condition that compares one field of the root table with a constant.
//
// Such conditions are the most common ones of scans, so they are evaluated without the program.

import FlatBuffersRuntime

enum RootTest {
  case integer(RootIntegerTest)
  case text(RootTextTest)

  @inline(__always)
  func evaluate(_ table: TableReader) -> Ternary {
    switch self {
    case .integer(let test): test.evaluate(table)
    case .text(let test): test.evaluate(table)
    }
  }
}

/// Compares an integer field.
struct RootIntegerTest {
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

/// Whether a text field without a default equals a text, or differs from it.
struct RootTextTest {
  fileprivate let offset: Int
  /// In the program's memory.
  fileprivate let constant: UnsafeRawBufferPointer
  fileprivate let isNegated: Bool

  @inline(__always)
  func evaluate(_ table: TableReader) -> Ternary {
    guard let text = table.utf8(at: offset) else { return .unknown }
    return Ternary(equalBytes(text, constant) != isNegated)
  }
}

extension Program {
  /// The whole program as such a condition, valid as long as the program; nil if it is another one.
  var rootTest: RootTest? {
    if instructions.count == 1, instructions[0].operation == .compareRootInteger {
      return .integer(RootIntegerTest(instructions[0]))
    }
    return rootTextTest.map(RootTest.text)
  }

  private var rootTextTest: RootTextTest? {
    guard instructions.count == 3 else { return nil }
    let (field, constant, comparison) = (instructions[0], instructions[1], instructions[2])
    guard comparison.operation == .compare, comparison.type == .string,
      comparison.comparison == .equal || comparison.comparison == .notEqual,
      field.operation == .tableField, field.right == 0, !field.hasDefault,
      constant.operation == .constant
    else { return nil }
    return RootTextTest(
      offset: Int(field.offset), constant: strings[Int(constant.bits)],
      isNegated: comparison.comparison == .notEqual)
  }
}
