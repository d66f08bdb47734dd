// Following the path to a field on the bytes of a row, hop by hop.

import FlatBuffersRuntime

extension Program {
  /// The table that contains a field.
  @inline(__always)
  func container(_ field: Instruction, _ table: TableReader, _ scratch: ScratchMemory)
    -> TableReader?
  {
    field.right == 0 ? table : walk(field, Int(field.right), table, scratch)
  }

  private func walk(
    _ field: Instruction, _ count: Int, _ table: TableReader, _ scratch: ScratchMemory
  ) -> TableReader? {
    var place = table
    for index in 0..<count {
      let hop = hops[Int(field.left) + index]
      let offset = Int(hop.offset)
      if hop.kind == .element {
        guard let element = scratch?.pointee.elements[offset].table else { return nil }
        place = element
        continue
      }
      if hop.kind == .elementMember {
        guard let position = member(hop.tag, offset, scratch),
          let element = table.table(atPosition: position)
        else { return nil }
        place = element
        continue
      }
      if hop.kind == .tableMember {
        guard place.scalar(at: offset - 2, default: UInt8(0)) == hop.tag else { return nil }
      }
      guard let next = place.table(at: offset) else { return nil }
      place = next
    }
    return place
  }

  /// Whether the table or struct at the end of the hops is stored. Without hops it is the object
  /// itself.
  func isPresent(_ field: Instruction, _ table: TableReader, _ scratch: ScratchMemory)
    -> Bool
  {
    if field.right == 0 { return true }
    switch hops[Int(field.left) + Int(field.right) - 1].kind {
    case .table, .tableMember, .element, .elementMember:
      return container(field, table, scratch) != nil
    case .structure, .structureMember, .elementStructure, .elementStructureMember:
      return structure(field, table, scratch) != nil
    }
  }

  /// The struct that contains a field: the last hop leads to the struct, the previous ones to its
  /// table.
  func structure(_ field: Instruction, _ table: TableReader, _ scratch: ScratchMemory)
    -> StructReader?
  {
    let last = Int(field.right) - 1
    guard let place = walk(field, last, table, scratch) else { return nil }
    let hop = hops[Int(field.left) + last]
    let offset = Int(hop.offset)
    if hop.kind == .elementStructure {
      guard let position = scratch?.pointee.elements[offset].position else { return nil }
      return StructReader(table.bytes, at: position, size: Int(hop.size))
    }
    if hop.kind == .elementStructureMember {
      return member(hop.tag, offset, scratch)
        .flatMap { table.indirectStructure(atPosition: $0, size: Int(hop.size)) }
    }
    guard hop.kind == .structureMember else {
      return place.structure(at: offset, size: Int(hop.size))
    }
    guard place.scalar(at: offset - 2, default: UInt8(0)) == hop.tag else { return nil }
    return place.indirectStructure(at: offset, size: Int(hop.size))
  }
}
