// LayoutPlan: a layout and everything reachable from it, flattened.
//
// Every row of every result is verified, and every update is compared with the stored row, so this
// is among the hottest code. Layouts become arrays of plain records that refer to each other by
// index; walking them touches no closure, class or enum with payload. Invariants:
//
//  - Only `init` writes the memory, so a plan may be used by many threads.
//  - Cycles of layouts are cycles of indices; `Verifier` bounds the depth of a row.

package import FlatBuffersRuntime

final class LayoutPlan: Sendable {
  let checks: ConstantBuffer<Check>
  /// How the property of each check is written, in the same order.
  let writes: ConstantBuffer<Write>
  let tables: ConstantBuffer<Table>
  /// The fields of all tables; for each table in the order in which they are written.
  let steps: ConstantBuffer<Step>
  let members: ConstantBuffer<Member>
  let unions: ConstantBuffer<Span>
  /// Default values of strings.
  let strings: ConstantBuffer<UnsafeRawBufferPointer>
  /// The checks in the form that LayoutPlan+Soundness.swift uses.
  let parts: ConstantBuffer<Part>
  /// The integers and strings of the root table, for LayoutPlan+Difference.swift.
  let markers: ConstantBuffer<Marker>
  /// The fields of the root table that are always written.
  let alwaysWritten: ConstantBuffer<Int32>
  /// Whether no row can nest its tables more deeply than the verifier allows.
  let isShallow: Bool

  /// The indices from `start` up to, but not including, `end`.
  struct Span {
    var start: Int32
    var end: Int32
  }

  /// The properties of a table in slot order, and the steps to write it.
  struct Table {
    var start: Int32
    var end: Int32
    var firstStep: Int32
    var lastStep: Int32
    var slotCount: Int32
    /// Whether it refers to no other tables.
    var isLeaf: Bool
  }

  /// One property of a table.
  struct Check {
    enum Operation: UInt8 {
      case scalar, string, table, union
      case vector, stringVector, tableVector, unionVector
    }

    var operation: Operation
    var isRequired: Bool
    /// Whether different bytes are always different values: an integer.
    var isInteger: Bool
    var offset: Int32
    /// The inline size; 4 for an offset.
    var size: Int32
    /// The stride of a vector.
    var stride: Int32 = 0
    /// The table or union that it refers to.
    var target: Int32

    /// Whether the previous slot has the tag, or tags, of a union.
    var hasTag: Bool { operation == .union || operation == .unionVector }
  }

  /// What writing a property needs beyond its check.
  struct Write {
    /// The index in the layout's list of properties.
    var property: Int32
    /// The alignment of the inline value, or of a vector's elements.
    var alignment: Int32
    /// The default of a scalar in stored form.
    var defaultBits: UInt64?
    /// The index of a string's default, or −1.
    var defaultString: Int32 = -1
    var isEnumeration = false
    /// Whether the property is a fixed struct, whose bytes are inline.
    var isStructure = false
    /// Whether the field is written even at its default or if it is empty.
    var isAlwaysWritten = false
    /// Whether different bits are always different values, and an empty vector is not nil.
    var isExact = false
  }

  /// A field to add to a table, or the tags of a union field.
  struct Step {
    /// The index of the property in its table.
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
    /// The index of a table, or the size of a struct.
    var detail: Int32
    /// The alignment of a struct.
    var alignment: Int32 = 1
  }

  init(_ root: TableLayout) {
    var builder = Builder()
    _ = builder.table(root)
    builder.run()
    checks = ConstantBuffer(builder.checks)
    writes = ConstantBuffer(builder.writes)
    steps = ConstantBuffer(builder.steps)
    strings = ConstantBuffer(builder.strings.map { .copying(utf8: $0) })
    tables = ConstantBuffer(builder.tables)
    members = ConstantBuffer(builder.members)
    unions = ConstantBuffer(builder.unions)
    parts = ConstantBuffer(builder.checks.map(Part.init))
    markers = ConstantBuffer(Marker.list(builder.checks[..<Int(builder.tables[0].end)]))
    alwaysWritten = ConstantBuffer(
      (0..<Int(builder.tables[0].end)).filter { builder.writes[$0].isAlwaysWritten }
        .map { builder.checks[$0].offset })
    isShallow = builder.isShallow
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
    alwaysWritten.deallocate()
  }

  /// Verifies that bytes are a sound buffer with this plan's root table, so that it can be read in
  /// full.
  ///
  /// A missing `required` field is accepted by default. It is checked when a buffer comes from
  /// outside, but not when a stored row is read: no object becomes inaccessible because it violates
  /// a requirement.
  func verify(
    _ bytes: UnsafeRawBufferPointer, requiring: Bool = false
  ) throws(VerificationError) {
    if !requiring, isSound(bytes) { return }
    try verifyFully(bytes, requiring: requiring)
  }

  /// Verifies without trying the fast check first.
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

  /// Verifies the value of a union. The value of a member that this version of the schema does not
  /// know is never read.
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

  /// The member of a union with a tag other than 0; nil if this version of the schema does not know
  /// it.
  @inline(__always)
  func member(_ tag: Int, of union: Int) -> Member? {
    let span = unions[union]
    // Tags are numbered from 1 up unless the schema assigns others.
    let likely = Int(span.start) &+ tag &- 1
    if likely < Int(span.end), Int(members[likely].tag) == tag { return members[likely] }
    for index in Int(span.start)..<Int(span.end) where Int(members[index].tag) == tag {
      return members[index]
    }
    return nil
  }

  /// Whether a root table lacks a field that is always written.
  func lacksWritten(_ root: TableReader) -> Bool {
    for field in alwaysWritten where !root.contains(Int(field)) { return true }
    return false
  }
}

extension TableLayout {
  /// Whether a field is required, here or in a table below.
  package var hasRequiredFields: Bool { plan.checks.contains { $0.isRequired } }

  /// Verifies that bytes are a sound buffer with this root table, so that it can be read in full.
  /// - Parameters:
  ///   - bytes: The bytes to verify.
  ///   - requiring: Whether `required` fields must be present.
  /// - Throws: The problem and its position.
  package func verify(
    _ bytes: UnsafeRawBufferPointer, requiring: Bool = false
  ) throws(VerificationError) {
    // The common case, checked for each row: the plan is not even retained.
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
