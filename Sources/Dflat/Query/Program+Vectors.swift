// Evaluation of conditions on the elements of vectors.

import FlatBuffersRuntime

/// The element that a variable currently stands for.
struct ElementSlot {
  /// The element, if it is a table.
  var table: TableReader?
  /// The position of a scalar or struct in the row.
  var position = 0
  /// The element, if it is a string.
  var text: UnsafeRawBufferPointer?
}

/// How the elements of a vector are read.
enum ElementKind: UInt8 {
  case scalar, string, table

  init(_ kind: Property.Kind) {
    switch kind {
    case .string: self = .string
    case .table: self = .table
    default: self = .scalar
    }
  }
}

extension Program {
  /// The elements of a vector: nil if they are unknown, no reader if the vector is absent.
  func vector(
    _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> VectorReader?? {
    guard let place = container(instruction, table, scratch) else { return nil }
    let field = Int(instruction.offset)
    let position = place.locate(field, size: 4)
    if position == 0 { return .some(nil) }
    guard position > 0, let vector = place.vector(at: field, stride: Int(instruction.constant))
    else { return nil }
    return .some(vector)
  }

  /// Whether a condition holds for one or all elements of the first vector that is known.
  func quantified(
    _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> Ternary {
    guard let scratch else { return .unknown }
    let isAny = instruction.operation == .any
    for part in parts[Int(instruction.left)...].prefix(Int(instruction.right)) {
      let source = instructions[Int(part)]
      guard let known = vector(source, table, scratch) else { continue }
      guard let elements = known else { return Ternary(!isAny) }
      var result = Ternary(!isAny)
      for index in 0..<elements.count {
        scratch.pointee.elements[Int(instruction.offset)] = slot(elements, index, source.tag)
        let mark = scratch.pointee.mark
        switch condition(Int(instruction.constant), table, scratch) {
        case .true: if isAny { return .true }
        case .false: if !isAny { return .false }
        case .unknown: result = .unknown
        }
        scratch.pointee.reset(to: mark)
      }
      return result
    }
    return .unknown
  }

  private func slot(_ elements: VectorReader, _ index: Int, _ kind: UInt8) -> ElementSlot {
    switch ElementKind(rawValue: kind) {
    case .table: ElementSlot(table: elements.table(index))
    case .string: ElementSlot(text: elements.utf8(index))
    default: ElementSlot(position: elements.position(of: index))
    }
  }
}
