// Evaluation of conditions on the elements of vectors.
//
// An element of a vector of unions that is empty, or has a member that this version of the schema
// does not know, is no element: the property of the object does not have it either.

import FlatBuffersRuntime

/// The element that a variable currently stands for.
struct ElementSlot {
  /// The element, if it is a table.
  var table: TableReader?
  /// The position of a scalar or struct in the row; for a union, of the offset to its value.
  var position = 0
  /// The element, if it is a string.
  var text: UnsafeRawBufferPointer?
  /// The tag of a union.
  var tag: UInt8 = 0
}

/// How the elements of a vector are read.
enum ElementKind: UInt8 {
  case scalar, string, table, union

  init(_ kind: Property.Kind) {
    switch kind {
    case .string: self = .string
    case .table: self = .table
    case .union: self = .union
    default: self = .scalar
    }
  }
}

/// The elements of a vector, and their tags if they are unions.
struct ElementVector {
  var elements: VectorReader
  var tags: VectorReader?
}

extension Program {
  /// The elements of a vector: nil if they are unknown, no reader if the vector is absent.
  func vector(
    _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> ElementVector?? {
    guard let place = container(instruction, table, scratch) else { return nil }
    let field = Int(instruction.offset)
    let position = place.locate(field, size: 4)
    if position == 0 { return .some(nil) }
    guard position > 0, let vector = place.vector(at: field, stride: Int(instruction.constant))
    else { return nil }
    guard instruction.operation == .unionCount else { return ElementVector(elements: vector) }
    // A row whose numbers of tags and values differ is damaged.
    guard let tags = place.vector(at: field - 2, stride: 1), tags.count == vector.count else {
      return nil
    }
    return ElementVector(elements: vector, tags: tags)
  }

  /// The number of elements.
  func count(_ vector: ElementVector?, _ source: Instruction) -> Int {
    guard let vector else { return 0 }
    guard let tags = vector.tags else { return vector.elements.count }
    return (0..<tags.count).count { isElement(tags.scalar($0), source) }
  }

  private func isElement(_ tag: UInt8, _ source: Instruction) -> Bool {
    domains[Int(source.domain)].read(Int64(tag)) != nil
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
      guard let vector = known else { return Ternary(!isAny) }
      var result = Ternary(!isAny)
      for index in 0..<vector.elements.count {
        guard let slot = slot(vector, index, source) else { continue }
        scratch.pointee.elements[Int(instruction.offset)] = slot
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

  /// The element at an index; nil if it is a union without a known member.
  private func slot(
    _ vector: ElementVector, _ index: Int, _ source: Instruction
  ) -> ElementSlot? {
    let elements = vector.elements
    switch ElementKind(rawValue: source.tag) {
    case .table: return ElementSlot(table: elements.table(index))
    case .string: return ElementSlot(text: elements.utf8(index))
    case .union:
      guard let tag: UInt8 = vector.tags?.scalar(index), isElement(tag, source) else { return nil }
      return ElementSlot(position: elements.position(of: index), tag: tag)
    default: return ElementSlot(position: elements.position(of: index))
    }
  }

  /// The position of the offset to a member's value, if the union in a slot has that member.
  func member(_ tag: UInt8, _ slot: Int, _ scratch: ScratchMemory) -> Int? {
    guard let element = scratch?.pointee.elements[slot], element.tag == tag else { return nil }
    return element.position
  }
}
