// LayoutPlan: a layout and everything reachable from it, flattened.
//
// Every row of every result is verified, and every update compared with what is stored, so this is among the hottest code
// there is. Layouts become arrays of plain records that refer to each other by index: no closure, class or enum with payload
// is touched on the way. It keeps true:
//
//  - the memory is written by `init` only, so a plan may be used by many threads;
//  - circles are circles of indices; how deep a row goes is bounded by `Verifier`.

public import FlatBuffersRuntime

final class LayoutPlan: @unchecked Sendable {
  // Unchecked: all memory is written in `init` and only read afterwards.
  let checks: UnsafeMutableBufferPointer<Check>
  /// How the property of each check is written.
  let writes: UnsafeMutableBufferPointer<Write>
  let tables: UnsafeMutableBufferPointer<Table>
  /// The fields of all tables, each table's in the order they are written.
  let steps: UnsafeMutableBufferPointer<Step>
  let members: UnsafeMutableBufferPointer<Member>
  let unions: UnsafeMutableBufferPointer<Span>
  /// Defaults of strings.
  let strings: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>
  /// The checks once more, for LayoutPlan+Soundness.swift.
  let parts: UnsafeMutableBufferPointer<Part>
  /// The integers and strings of the root table, for LayoutPlan+Difference.swift.
  let markers: UnsafeMutableBufferPointer<Marker>

  /// Indices from `start` to before `end`.
  struct Span {
    var start: Int32
    var end: Int32
  }

  /// The properties of a table, in the order of their slots, and the steps of its writing.
  struct Table {
    var start: Int32
    var end: Int32
    var firstStep: Int32
    var lastStep: Int32
    var slotCount: Int32
  }

  /// One property of a table.
  struct Check {
    enum Operation: UInt8 {
      case scalar, string, table, union
      case vector, stringVector, tableVector, unionVector
    }

    var operation: Operation
    var isRequired: Bool
    /// An integer: different bytes are different values.
    var isInteger: Bool
    var offset: Int32
    /// The inline size: of an offset 4.
    var size: Int32
    /// Of a vector, the distance of its elements.
    var stride: Int32 = 0
    /// The table or union that it refers to.
    var target: Int32

    /// A union's tag, or tags, stand in the slot before.
    var hasTag: Bool { operation == .union || operation == .unionVector }
  }

  /// What writing needs to know of a property, beyond its check.
  struct Write {
    /// Its place in the layout's list.
    var property: Int32
    /// Of what is inline, or of a vector's elements.
    var alignment: Int32
    /// The default of a scalar, as it would be stored.
    var defaultBits: UInt64?
    /// The default of a string: an index, or −1.
    var defaultString: Int32 = -1
    var isEnumeration = false
    /// A fixed struct, whose bytes are inline.
    var isStructure = false
    /// What is written also at its default or when it is empty.
    var isAlwaysWritten = false
  }

  /// A field that is added to a table, or the tags of one.
  struct Step {
    /// The property's place among those of its table.
    var index: Int32
    var isTag: Bool
  }

  /// One member of a union.
  struct Member {
    enum Kind: UInt8 {
      case table, structure, string
    }

    var tag: UInt8
    var kind: Kind
    /// The table's index, or the struct's size.
    var detail: Int32
    /// Of a struct.
    var alignment: Int32 = 1
  }

  init(_ root: TableLayout) {
    var builder = Builder()
    _ = builder.table(root)
    builder.run()
    checks = .copying(builder.checks)
    writes = .copying(builder.writes)
    steps = .copying(builder.steps)
    strings = .copying(builder.strings.map { .copying(utf8: $0) })
    tables = .copying(builder.tables)
    members = .copying(builder.members)
    unions = .copying(builder.unions)
    parts = .copying(builder.checks.map(Part.init))
    markers = .copying(Marker.list(builder.checks[..<Int(builder.tables[0].end)]))
  }

  deinit {
    for string in strings { string.deallocate() }
    strings.deallocate()
    checks.deallocate()
    writes.deallocate()
    steps.deallocate()
    tables.deallocate()
    members.deallocate()
    unions.deallocate()
    parts.deallocate()
    markers.deallocate()
  }

  /// Checks that bytes are a sound buffer whose root is the plan's: that it can be read in full.
  ///
  /// A `required` field that is missing does no harm to that. It is asked for where buffers come in, not where stored rows
  /// are read: no object is lost for a requirement that it does not meet.
  func verify(
    _ bytes: UnsafeRawBufferPointer, requiring: Bool = false
  ) throws(VerificationError) {
    if !requiring, isSound(bytes) { return }
    try verifyFully(bytes, requiring: requiring)
  }

  /// The same without the fast check before it.
  func verifyFully(
    _ bytes: UnsafeRawBufferPointer, requiring: Bool = false
  ) throws(VerificationError) {
    var verifier = Verifier(bytes)
    try check(0, verifier.root(), requiring, &verifier)
  }

  private func check(
    _ index: Int, _ table: TableReader, _ requiring: Bool, _ verifier: inout Verifier
  ) throws(VerificationError) {
    let span = tables[index]
    var next = Int(span.start)
    let end = Int(span.end)
    while next < end {
      let check = checks[next]
      next &+= 1
      let offset = Int(check.offset)
      let place = try verifier.locate(
        offset, size: Int(check.size), in: table, required: requiring && check.isRequired)
      if place == 0 { continue }
      switch check.operation {
      case .scalar: break
      case .string: try verifier.string(atPosition: place)
      case .vector: try verifier.vector(atPosition: place, stride: Int(check.stride))
      case .table:
        try self.check(
          Int(check.target), verifier.enterTable(atPosition: place), requiring, &verifier)
        verifier.leaveTable()
      case .union:
        let tag = try verifier.union(typeAt: offset &- 2, valueAt: offset, in: table)
        if tag != 0 {
          try member(
            tag, Int(check.target), at: place, isElement: false, requiring, &verifier)
        }
      case .stringVector: try verifier.stringVector(at: offset, in: table)
      case .tableVector: try checkTables(check, at: place, requiring, &verifier)
      case .unionVector: try checkUnions(check, in: table, requiring, &verifier)
      }
    }
  }

  private func checkTables(
    _ check: Check, at position: Int, _ requiring: Bool, _ verifier: inout Verifier
  ) throws(VerificationError) {
    let vector = try verifier.vector(atPosition: position, stride: 4)
    try verifier.count(vector.count, at: position)
    for index in 0..<vector.count {
      let inner = try verifier.enterTable(atPosition: vector.position(of: index), isElement: true)
      try self.check(Int(check.target), inner, requiring, &verifier)
      verifier.leaveTable()
    }
  }

  private func checkUnions(
    _ check: Check, in table: TableReader, _ requiring: Bool, _ verifier: inout Verifier
  ) throws(VerificationError) {
    let offset = Int(check.offset)
    guard
      let vectors = try verifier.unionVector(
        typesAt: offset - 2, valuesAt: offset, in: table)
    else { return }
    for index in 0..<vectors.types.count {
      let tag: UInt8 = vectors.types.scalar(index)
      if tag == 0 { continue }
      try member(
        tag, Int(check.target), at: vectors.values.position(of: index), isElement: true, requiring,
        &verifier)
    }
  }

  /// Checks the value of a union. One whose member this version of the schema does not know is never read.
  private func member(
    _ tag: UInt8, _ union: Int, at position: Int, isElement: Bool, _ requiring: Bool,
    _ verifier: inout Verifier
  ) throws(VerificationError) {
    guard let member = member(Int(tag), of: union) else { return }
    switch member.kind {
    case .table:
      try check(
        Int(member.detail), verifier.enterTable(atPosition: position, isElement: isElement),
        requiring, &verifier)
      verifier.leaveTable()
    case .structure:
      try verifier.indirectStructure(
        atPosition: position, size: Int(member.detail), isElement: isElement)
    case .string: try verifier.string(atPosition: position, isElement: isElement)
    }
  }

  /// The member of a union with a tag, not 0, if this version of the schema knows it.
  @inline(__always)
  func member(_ tag: Int, of union: Int) -> Member? {
    let span = unions[union]
    // Tags are numbered from 1 up, unless the schema says otherwise.
    let likely = Int(span.start) &+ tag &- 1
    if likely < Int(span.end), Int(members[likely].tag) == tag { return members[likely] }
    for index in Int(span.start)..<Int(span.end) where Int(members[index].tag) == tag {
      return members[index]
    }
    return nil
  }

  /// Whether a root table lacks a field that is always written.
  func lacksWritten(_ root: TableReader) -> Bool {
    let span = tables[0]
    for index in Int(span.start)..<Int(span.end)
    where writes[index].isAlwaysWritten && !root.contains(Int(checks[index].offset)) {
      return true
    }
    return false
  }
}

extension TableLayout {
  /// Checks that bytes are a sound buffer whose root is this table: one that can be read in full.
  /// - Parameters:
  ///   - bytes: What is checked.
  ///   - requiring: Whether `required` fields must be there.
  /// - Throws: What is wrong, and where.
  public func verify(
    _ bytes: UnsafeRawBufferPointer, requiring: Bool = false
  ) throws(VerificationError) {
    // Almost always so, and asked for each row: the plan is not even retained.
    if !requiring, unretainedPlan._withUnsafeGuaranteedRef({ $0.isSound(bytes) }) { return }
    try plan.verifyFully(bytes, requiring: requiring)
  }
}

extension TableReader {
  @inline(__always)
  func inlineBytes(at position: Int, _ size: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.baseAddress.unsafelyUnwrapped + position, count: size)
  }
}

extension UnsafeMutableBufferPointer {
  static func copying(_ elements: [Element]) -> Self {
    let buffer = Self.allocate(capacity: elements.count)
    _ = buffer.initialize(from: elements)
    return buffer
  }
}
