// RowCopier: copies tables in the canonical order of generated code (see Layout+Encoding.swift).
//
// Updates whose bytes cannot be patched use it, so it walks the flattened layout only. Invariants:
//
//  - Defaults are left out even if the source has stored them, except for required fields and the
//    strings of a primary key, which are always written.
//  - The size of the copy is bounded by the size of the source, even if the source refers to the
//    same bytes many times.
//  - `isComplete` is false once the source contained something that cannot be copied: a field or
//    union member that the layout does not know, more data than the bound, or tables nested more
//    deeply than rows may be. The output is then useless.

import FlatBuffersRuntime

struct RowCopier {
  let plan: LayoutPlan
  let builder: FlatBufferBuilder
  private(set) var isComplete = true
  /// The number of bytes that may still be written.
  private var room: Int
  private var depth = 0

  /// - Parameter sources: The total size of the source buffers in bytes.
  init(_ plan: LayoutPlan, _ builder: FlatBufferBuilder, sources: Int) {
    self.plan = plan
    self.builder = builder
    // Shared strings are written once for each reference.
    room = 16 * sources + 1024
  }

  /// The part of a property's value that is outside of its table.
  struct Child {
    var value = FlatBufferBuilder.Offset.none
    /// The tags of a vector of unions.
    var tags = FlatBufferBuilder.Offset.none
  }

  /// Writes a table.
  /// - Parameters:
  ///   - index: The table's index in the plan.
  ///   - source: The table that provides the fields.
  ///   - changes: The fields that `values` provides instead.
  ///   - values: The table with changed fields.
  mutating func table(
    _ index: Int, _ source: TableReader, changes: FieldSet = .none, from values: TableReader? = nil
  ) -> FlatBufferBuilder.Offset {
    let table = plan.tables[index]
    let start = Int(table.start)
    let count = Int(table.end) - start
    depth &+= 1
    defer { depth &-= 1 }
    if depth > 64 {
      isComplete = false
      return .none
    }
    return withUnsafeTemporaryAllocation(of: Child.self, capacity: max(count, 1)) { children in
      var known = 0
      var inlineSize = 4
      for position in 0..<count {
        let check = plan.checks[start + position]
        let field = Int(check.offset)
        if source.contains(field) {
          known &+= 1
          inlineSize &+= Int(check.size)
        }
        if check.hasTag { known &+= source.contains(field &- 2) ? 1 : 0 }
        children[position] =
          check.operation == .scalar
          ? Child()
          : child(start + position, changes.contains(field) ? values ?? source : source)
      }
      if known != source.fieldCount || !take(inlineSize) { isComplete = false }
      builder.startTable(slotCount: Int(table.slotCount))
      add(table, children) { changes.contains($0) ? values ?? source : source }
      return builder.endTable()
    }
  }

  /// Adds the fields to the open table.
  /// - Parameter source: The table that provides a field; nil to leave the field out.
  @inline(__always)
  func add(
    _ table: LayoutPlan.Table, _ children: UnsafeMutableBufferPointer<Child>,
    _ source: (Int) -> TableReader?
  ) {
    for step in Int(table.firstStep)..<Int(table.lastStep) {
      let step = plan.steps[step]
      let index = Int(table.start + step.index)
      let check = plan.checks[index]
      let field = Int(check.offset)
      let child = children[Int(step.index)]
      guard let source = source(field) else { continue }
      switch check.operation {
      case .scalar: add(scalar: index, of: source)
      case .union where step.isTag:
        if child.value != .none {
          let tag = source.scalar(at: field &- 2, default: UInt8(0))
          builder.add(tag, at: field &- 2, default: 0)
        }
      case .unionVector where step.isTag: builder.add(child.tags, at: field &- 2)
      default: builder.add(child.value, at: field)
      }
    }
  }

  /// Adds a scalar, enum or fixed struct, unless it has its default.
  private func add(scalar index: Int, of source: TableReader) {
    let check = plan.checks[index]
    let field = Int(check.offset)
    let size = Int(check.size)
    let place = source.locate(field, size: size)
    let write = plan.writes[index]
    guard place > 0, let start = source.bytes.baseAddress else {
      if write.isAlwaysWritten, write.isStructure {
        builder.addStructure(at: field, size: size, alignment: Int(write.alignment)) { _ in }
      }
      return
    }
    switch (size, Int(write.alignment)) {
    case (1, 1): add(start.loadUnaligned(fromByteOffset: place, as: UInt8.self), field, write)
    case (2, 2): add(start.loadUnaligned(fromByteOffset: place, as: UInt16.self), field, write)
    case (4, 4): add(start.loadUnaligned(fromByteOffset: place, as: UInt32.self), field, write)
    case (8, 8): add(start.loadUnaligned(fromByteOffset: place, as: UInt64.self), field, write)
    default:
      builder.addStructure(at: field, size: size, alignment: Int(write.alignment)) {
        $0.copyMemory(from: start + place, byteCount: size)
      }
    }
  }

  @inline(__always)
  private func add<Bits: FlatBufferScalar & UnsignedInteger>(
    _ bits: Bits, _ field: Int, _ write: LayoutPlan.Write
  ) {
    if let standard = write.defaultBits, standard == UInt64(bits) { return }
    builder.add(Optional(bits), at: field)
  }

  /// Writes the part of a property's value that is outside of its table, if there is one.
  mutating func child(_ index: Int, _ source: TableReader) -> Child {
    let check = plan.checks[index]
    let field = Int(check.offset)
    switch check.operation {
    case .scalar: return Child()
    case .string:
      let write = plan.writes[index]
      let standard =
        write.defaultString >= 0 ? plan.strings[Int(write.defaultString)] : nil
      guard let bytes = source.utf8(at: field) else {
        return write.isAlwaysWritten ? Child(value: string(standard ?? emptyBytes)) : Child()
      }
      if !write.isAlwaysWritten, let standard, equalBytes(bytes, standard) { return Child() }
      return Child(value: string(bytes))
    case .table:
      guard let table: TableReader = source.table(at: field) else {
        guard plan.writes[index].isAlwaysWritten else { return Child() }
        return Child(value: TableReader.withEmpty { self.table(Int(check.target), $0) })
      }
      return Child(value: self.table(Int(check.target), table))
    case .union:
      let tag = source.scalar(at: field &- 2, default: UInt8(0))
      let place = source.locate(field, size: 4)
      guard tag != 0, place > 0 else { return Child() }
      return Child(value: member(tag, of: Int(check.target), source, at: place))
    case .vector:
      guard let vector = source.vector(at: field, stride: Int(check.stride)), vector.count > 0,
        take(vector.elementBytes.count)
      else { return emptyVector(index, source) }
      return Child(
        value: builder.vector(
          bytes: vector.elementBytes, count: vector.count,
          alignment: Int(plan.writes[index].alignment)))
    case .stringVector, .tableVector:
      guard let vector = source.vector(at: field, stride: 4), vector.count > 0 else {
        return emptyVector(index, source)
      }
      builder.startVector(count: vector.count)
      for element in 0..<vector.count where isComplete {
        if check.operation == .stringVector {
          if let bytes = vector.utf8(element) { builder.push(string(bytes)) }
        } else if let table = vector.table(element) {
          builder.push(self.table(Int(check.target), table))
        }
      }
      return Child(value: builder.endVector())
    case .unionVector:
      let child = unions(field, Int(check.target), source)
      return child.value == .none ? emptyVector(index, source) : child
    }
  }

  /// Writes an empty vector if the field is always written, or the source has an empty one that
  /// differs from an absent one.
  private func emptyVector(_ index: Int, _ source: TableReader) -> Child {
    let write = plan.writes[index]
    let isEmpty = write.isExact && source.contains(Int(plan.checks[index].offset))
    guard write.isAlwaysWritten || isEmpty else { return Child() }
    var child = Child(
      value: builder.vector(
        bytes: emptyBytes, count: 0, alignment: Int(plan.writes[index].alignment)))
    if plan.checks[index].hasTag {
      child.tags = builder.vector(bytes: emptyBytes, count: 0, alignment: 1)
    }
    return child
  }

  private mutating func unions(_ field: Int, _ union: Int, _ source: TableReader) -> Child {
    guard let tags = source.vector(at: field &- 2, stride: 1),
      let values = source.vector(at: field, stride: 4)
    else { return Child() }
    let count = min(tags.count, values.count)
    // Empty elements are dropped, as in reading.
    let present = (0..<count).filter { tags.scalar($0) as UInt8 != 0 }
    guard !present.isEmpty, take(present.count) else { return Child() }
    let tagVector = builder.vector(present.map { tags.scalar($0) as UInt8 })
    builder.startVector(count: present.count)
    for element in present where isComplete {
      builder.push(
        member(tags.scalar(element), of: union, source, at: values.position(of: element)))
    }
    return Child(value: builder.endVector(), tags: tagVector)
  }

  /// Writes the value of a union member whose offset is at a position of the source buffer.
  private mutating func member(
    _ tag: UInt8, of union: Int, _ source: TableReader, at place: Int
  ) -> FlatBufferBuilder.Offset {
    let span = plan.unions[union]
    for index in Int(span.start)..<Int(span.end) where plan.members[index].tag == tag {
      let member = plan.members[index]
      switch member.kind {
      case .string:
        guard let bytes = source.utf8(atPosition: place) else { return .none }
        return string(bytes)
      case .table:
        guard let table = source.table(atPosition: place) else { return .none }
        return self.table(Int(member.detail), table)
      case .structure:
        let size = Int(member.detail)
        guard let structure = source.indirectStructure(atPosition: place, size: size),
          let start = structure.bytes.baseAddress, take(size)
        else { return .none }
        return builder.indirectStructure(size: size, alignment: Int(member.alignment)) {
          $0.copyMemory(from: start + structure.position, byteCount: size)
        }
      }
    }
    isComplete = false
    return .none
  }

  private mutating func string(_ bytes: UnsafeRawBufferPointer) -> FlatBufferBuilder.Offset {
    take(bytes.count) ? builder.string(utf8: bytes) : .none
  }

  /// Reserves bytes; false if the bound is exceeded.
  private mutating func take(_ count: Int) -> Bool {
    room &-= count &+ 8
    if room < 0 { isComplete = false }
    return isComplete
  }
}
