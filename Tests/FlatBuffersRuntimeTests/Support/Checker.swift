// Drives the verifier over any layout.

import FlatBuffersRuntime

extension Verifier {
  /// Checks all fields of an entered table, and everything below them.
  mutating func check(_ table: TablePosition, _ layout: TableLayout) throws(VerificationError) {
    for field in layout.fields { try check(field, in: table) }
  }

  private mutating func check(
    _ field: TableLayout.Field, in table: TablePosition
  ) throws(VerificationError) {
    let fieldOffset = field.offset
    let required = field.isRequired
    switch field.kind {
    case .scalar(let kind):
      try scalar(at: fieldOffset, size: kind.size, in: table, required: required)
    case .string: try string(at: fieldOffset, in: table, required: required)
    case .structure(let layout):
      try structure(at: fieldOffset, size: layout.size, in: table, required: required)
    case .table(let layout):
      if let child = try enterTable(at: fieldOffset, in: table, required: required) {
        try check(child, layout)
        leaveTable()
      }
    case .vector(.string): try stringVector(at: fieldOffset, in: table, required: required)
    case .vector(let element):
      guard
        let vector = try vector(
          at: fieldOffset, stride: element.size, in: table, required: required),
        case .table(let layout) = element
      else { return }
      try count(vector.count, at: vector.position)
      for index in 0..<vector.count {
        let child = try enterTable(atPosition: vector.position(of: index))
        try check(child, layout)
        leaveTable()
      }
    case .union(let layout):
      let type = try union(
        typeAt: fieldOffset - 2, valueAt: fieldOffset, in: table, required: required)
      try check(type, layout, at: table.locate(fieldOffset, size: 4))
    case .unionVector(let layout):
      guard
        let (types, values) = try unionVector(
          typesAt: fieldOffset - 2, valuesAt: fieldOffset, in: table, required: required)
      else { return }
      for index in 0..<types.count {
        try check(types.scalar(index), layout, at: values.position(of: index))
      }
    case .array: fatalError("arrays are in structs only")
    }
  }

  private mutating func check(
    _ type: UInt8, _ layout: UnionLayout, at position: Int
  ) throws(VerificationError) {
    guard type > 0, type <= layout.members.count else { return }
    switch layout.members[Int(type) - 1].kind {
    case .string: try string(atPosition: position)
    case .structure(let layout): try indirectStructure(atPosition: position, size: layout.size)
    case .table(let layout):
      let child = try enterTable(atPosition: position)
      try check(child, layout)
      leaveTable()
    default: fatalError("no such member of a union")
    }
  }
}
