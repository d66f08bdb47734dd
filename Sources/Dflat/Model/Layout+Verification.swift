// Verification of rows and values by their layout.
//
// A buffer that passes can be read in full: no getter meets a field that does not fit. Depth and number of tables are
// bounded by `Verifier`. Each property is one check; what it needs to know is taken out of the property's kind once, because
// every row of every result is verified.

public import FlatBuffersRuntime

/// What verification does for one property.
struct TableCheck: Sendable {
  enum Operation: UInt8 {
    case scalar, string, table, union
    case vector, stringVector, tableVector, unionVector
  }

  let operation: Operation
  let isRequired: Bool
  let offset: Int
  /// The inline size of a scalar or struct, the stride of a vector.
  let size: Int
  let table: (@Sendable () -> TableLayout)?
  let union: (@Sendable () -> UnionLayout)?

  init(_ property: Property) {
    offset = property.offset
    isRequired = property.isRequired
    var table: (@Sendable () -> TableLayout)?
    var union: (@Sendable () -> UnionLayout)?
    switch property.kind {
    case .scalar, .enumeration, .structure:
      operation = .scalar
    case .string: operation = .string
    case .table(let layout):
      operation = .table
      table = layout
    case .union(let layout):
      operation = .union
      union = layout
    case .vector(.string): operation = .stringVector
    case .vector(.table(let layout)):
      operation = .tableVector
      table = layout
    case .vector(.union(let layout)):
      operation = .unionVector
      union = layout
    case .vector, .array: operation = .vector
    }
    size =
      if case .vector(let kind) = property.kind { kind.inlineSize } else {
        property.kind.inlineSize
      }
    self.table = table
    self.union = union
  }
}

extension TableLayout {
  /// Checks that bytes are a sound buffer whose root is this table.
  /// - Throws: What is wrong, and where.
  public func verify(_ bytes: UnsafeRawBufferPointer) throws(VerificationError) {
    var verifier = Verifier(bytes)
    try check(verifier.root(), with: &verifier)
  }

  private func check(_ table: TableReader, with verifier: inout Verifier) throws(VerificationError)
  {
    for check in checks {
      switch check.operation {
      case .scalar:
        try verifier.scalar(
          at: check.offset, size: check.size, in: table, required: check.isRequired)
      case .string:
        try verifier.string(at: check.offset, in: table, required: check.isRequired)
      case .vector:
        try verifier.vector(
          at: check.offset, stride: check.size, in: table, required: check.isRequired)
      case .stringVector:
        try verifier.stringVector(at: check.offset, in: table, required: check.isRequired)
      default: try checkReference(check, in: table, with: &verifier)
      }
    }
  }

  private func checkReference(
    _ check: TableCheck, in table: TableReader, with verifier: inout Verifier
  ) throws(VerificationError) {
    let offset = check.offset
    if let layout = check.table {
      if check.operation == .table {
        guard
          let inner = try verifier.enterTable(at: offset, in: table, required: check.isRequired)
        else { return }
        try layout().check(inner, with: &verifier)
        verifier.leaveTable()
      } else if let vector = try verifier.vector(
        at: offset, stride: 4, in: table, required: check.isRequired)
      {
        for index in 0..<vector.count {
          let inner = try verifier.enterTable(atPosition: vector.position(of: index))
          try layout().check(inner, with: &verifier)
          verifier.leaveTable()
        }
      }
    }
    if let layout = check.union {
      if check.operation == .union {
        let tag = try verifier.union(
          typeAt: offset - 2, valueAt: offset, in: table, required: check.isRequired)
        if tag != 0 {
          try layout().check(tag, at: table.locate(offset, size: 4), with: &verifier)
        }
      } else if let vectors = try verifier.unionVector(
        typesAt: offset - 2, valuesAt: offset, in: table, required: check.isRequired)
      {
        for index in 0..<vectors.types.count {
          let tag: UInt8 = vectors.types.scalar(index)
          if tag == 0 { continue }
          try layout().check(tag, at: vectors.values.position(of: index), with: &verifier)
        }
      }
    }
  }

  fileprivate func checkMember(
    at position: Int, with verifier: inout Verifier
  ) throws(VerificationError) {
    try check(verifier.enterTable(atPosition: position), with: &verifier)
    verifier.leaveTable()
  }
}

extension UnionLayout {
  /// Checks the value of a member. One that this version of the schema does not know is never read.
  fileprivate func check(
    _ tag: UInt8, at position: Int, with verifier: inout Verifier
  ) throws(VerificationError) {
    switch member(tag)?.kind {
    case .table(let layout): try layout().checkMember(at: position, with: &verifier)
    case .structure(let layout):
      try verifier.indirectStructure(atPosition: position, size: layout().size)
    case .string: try verifier.string(atPosition: position)
    default: break
    }
  }
}
