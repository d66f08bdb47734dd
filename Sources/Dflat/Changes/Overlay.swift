// Overlay: the fields that a request has set, laid over the row that holds all others.
//
// The resulting row has the request's values for the fields whose values differ, and the old row's
// content otherwise. Required fields and the strings of the primary key are always written, though
// older rows may lack them. The row is made in the cheapest of three ways:
//
//  - numbers, enums and fixed structs that both rows have are patched in a copy of the row's bytes;
//  - otherwise the row is written anew, in canonical form, and its other fields are copied
//    (RowCopier.swift);
//  - if the row has content that this version of the schema does not know, its bytes stay as they
//    are behind a new root table (FlatBufferBuilder+Overlays.swift), so that no update drops what a
//    newer program has stored.
//
// The caller must keep the row, the bytes of the values and the layout alive as long as it uses the
// overlay, which counts no references.

import FlatBuffersRuntime

struct Overlay: ~Copyable {
  private unowned(unsafe) let layout: TableLayout
  private unowned(unsafe) let plan: LayoutPlan
  private let old: TableReader
  /// A finished buffer with the fields that were set, without absent ones and defaults.
  private let new: TableReader
  /// The fields that were set.
  private let fields: FieldSet

  init(
    _ fields: FieldSet, _ values: UnsafeRawBufferPointer, over row: Row, as layout: TableLayout
  ) {
    guard let new = TableReader(root: values) else {
      preconditionFailure("a request was written that cannot be read")
    }
    self.layout = layout
    plan = layout.plan
    old = row.unretainedTable
    self.new = new
    self.fields = fields
  }

  /// The differences between the fields that were set and the row.
  struct Changes {
    /// The fields whose bytes differ.
    var fields = FieldSet.none
    /// Whether any value differs: different bytes may encode equal values, such as 0.0 and -0.0.
    var isDifferent = false
    /// Whether all of these fields are stored in both tables, with their values inline.
    var areInline = true
  }

  func changes() -> Changes {
    var changes = Changes()
    let table = plan.tables[0]
    for index in Int(table.start)..<Int(table.end) {
      let check = plan.checks[index]
      if fields.contains(Int(check.offset)) { compare(index, &changes) }
    }
    return changes
  }

  /// A value that is equal as far as this version of the schema knows keeps its bytes, including
  /// anything that a newer version has put into it.
  private func compare(_ index: Int, _ changes: inout Changes) {
    let check = plan.checks[index]
    let field = Int(check.offset)
    let size = Int(check.size)
    let before = old.locate(field, size: size)
    let after = new.locate(field, size: size)
    if before <= 0, after <= 0 { return }
    let areInBoth = before > 0 && after > 0
    if check.operation == .scalar {
      if areInBoth, equalBytes(old.inlineBytes(at: before, size), new.inlineBytes(at: after, size))
      {
        return
      }
      if areInBoth, check.isInteger {
        changes.isDifferent = true
      } else if isDifferent(index) {
        changes.isDifferent = true
      } else if plan.writes[index].isEnumeration {
        return
      }
    } else {
      if !isDifferent(index) { return }
      changes.isDifferent = true
    }
    changes.fields.insert(field)
    if !areInBoth || check.operation != .scalar { changes.areInline = false }
  }

  private func isDifferent(_ index: Int) -> Bool {
    let field = Int(plan.checks[index].offset)
    if plan.checks[index].operation == .string, let old = old.utf8(at: field),
      let new = new.utf8(at: field)
    {
      return !equalBytes(old, new)
    }
    let property = layout.properties[Int(plan.writes[index].property)]
    return !property.isEqual(old, new)
  }

  /// A copy of the row, patched with inline changes.
  /// - Parameter row: The row that the overlay was made for.
  /// - Returns: nil if the row must be written anew: it lacks a field that is always written, or
  ///   its parts overlap, so that patching would damage it.
  func patched(_ row: Row, _ changes: Changes, _ mark: ReadMark = .none) -> Row? {
    if plan.lacksWritten(old) { return nil }
    var start = old.bytes.count
    var end = 0
    let patched = row.copy(mark: mark) { memory in
      let table = plan.tables[0]
      for index in Int(table.start)..<Int(table.end) {
        let check = plan.checks[index]
        let field = Int(check.offset)
        guard changes.fields.contains(field) else { continue }
        let size = Int(check.size)
        let place = old.locate(field, size: size)
        start = min(start, place)
        end = max(end, place &+ size)
        let source = new.inlineBytes(at: new.locate(field, size: size), size)
        memory.advanced(by: place).copyMemory(
          from: source.baseAddress.unsafelyUnwrapped, byteCount: size)
      }
    }
    if start >= end { return patched }
    let range = start..<end
    let isRight = patched.withBytes { bytes in
      if plan.staysSound(old.bytes, bytes, patched: range) {
        return keepsScalars(changes.fields, bytes, patched: range)
      }
      guard plan.isSound(bytes), let new = TableReader(root: bytes) else { return false }
      return keepsProperties(changes.fields, new)
    }
    return isRight ? patched : nil
  }

  // A row of another program may store several fields in the same place.

  /// Whether all scalars are what they were, or have been changed to.
  /// - Parameter range: Where the row was patched.
  private func keepsScalars(
    _ changed: FieldSet, _ new: UnsafeRawBufferPointer, patched range: Range<Int>
  ) -> Bool {
    let table = plan.tables[0]
    for index in Int(table.start)..<Int(table.end) {
      let check = plan.checks[index]
      let field = Int(check.offset)
      if check.operation != .scalar { continue }
      let size = Int(check.size)
      let place = old.locate(field, size: size)
      let end = place &+ size
      let source = changed.contains(field) ? self.new : old
      if place > 0, place < range.upperBound, range.lowerBound < end,
        !equalBytes(
          source.inlineBytes(at: source.locate(field, size: size), size),
          UnsafeRawBufferPointer(rebasing: new[place..<end]))
      {
        return false
      }
    }
    return true
  }

  /// Whether all properties are what they were, or have been changed to.
  private func keepsProperties(_ changed: FieldSet, _ new: TableReader) -> Bool {
    layout.properties.allSatisfy {
      $0.isEqual(changed.contains($0.offset) ? self.new : old, new)
    }
  }

  /// How a changed row was written.
  enum Form {
    /// Anew, in canonical form.
    case canonical
    /// As a new root table over bytes of the old row.
    case laidOver
  }

  /// Writes the changed row to an empty builder, as a finished buffer.
  /// - Returns: nil if the row could not be written.
  func write(_ changes: Changes, to builder: FlatBufferBuilder) -> Form? {
    var copier = RowCopier(plan, builder, sources: size)
    let root = copier.table(0, old, changes: changes.fields, from: new)
    if copier.isComplete {
      builder.finish(root)
      return .canonical
    }
    // A row that is already an overlay is laid over the same core again, if the result is sound:
    // other bytes may merely look like an overlay.
    if let core = old.core, lay(changes.fields, keeping: core, builder),
      isRight(builder.bytes, changes.fields)
    {
      return .laidOver
    }
    return lay(changes.fields, keeping: 0..<old.bytes.count, builder) ? .laidOver : nil
  }

  /// Fallback for rows that `write` could not write: keeps only what this version of the schema
  /// knows.
  func writeKnown(_ changes: Changes, to builder: FlatBufferBuilder) {
    builder.reset()
    builder.finish(
      layout.write(to: builder) { property in
        let source = changes.fields.contains(property.offset) ? new : old
        return builder.encode(source.value(of: property))
      })
  }

  /// The size of both buffers in bytes.
  private var size: Int { old.bytes.count + new.bytes.count }
}

extension Row {
  /// Calls `body` with the row's bytes, written anew if a field that is always written is missing.
  func withKeyTexts<R>(
    as layout: TableLayout, _ body: (UnsafeRawBufferPointer) throws -> R
  ) rethrows -> R {
    guard read({ layout.plan.lacksWritten($0) }) else { return try withBytes(body) }
    return try BuilderPool.withBuilder { builder in
      defer { withExtendedLifetime(self) {} }
      let isWritten = withBytes {
        Overlay(.none, $0, over: self, as: layout).write(Overlay.Changes(), to: builder) != nil
          && builder.refusal == nil
      }
      // A row that cannot be written anew is used as it is.
      return isWritten ? try body(builder.bytes) : try withBytes(body)
    }
  }
}

// MARK: - Content that only a newer schema knows

extension Overlay {
  /// Writes a new root table over the core, the part of the old row that stays in place.
  /// - Returns: Whether this was possible, and the core holds everything that must be kept.
  private func lay(
    _ changes: FieldSet, keeping core: Range<Int>, _ builder: FlatBufferBuilder
  ) -> Bool {
    let (old, new) = (old, new)
    let plan = plan
    builder.reset()
    let table = plan.tables[0]
    let known = Int(table.start)..<Int(table.end)
    // Known fields are replaced, or copied if they lie outside of the core; all others must stay.
    // Fields that are always written are added if the row lacks them.
    var absentFields = FieldSet.none
    func source(_ field: Int) -> TableReader? {
      if changes.contains(field) { return new }
      let place = old.locate(field, size: 0)
      if place <= 0 { return absentFields.contains(field) ? old : nil }
      return core.contains(place) ? nil : old
    }
    var written = Set<Int>()
    var inlineSize = 0
    for index in known {
      let check = plan.checks[index]
      let field = Int(check.offset)
      inlineSize += Int(check.size + plan.writes[index].alignment) + (check.hasTag ? 8 : 0)
      if plan.writes[index].isAlwaysWritten { absentFields.insert(field) }
      guard source(field) != nil else { continue }
      written.insert(field)
      if check.hasTag { written.insert(field - 2) }
    }
    let mustStay = stride(from: 4, to: Int(old.vtableSize), by: 2).filter {
      old.contains($0) && !written.contains($0)
    }
    guard mustStay.allSatisfy({ core.contains(old.locate($0, size: 0)) }) else { return false }

    var copier = RowCopier(plan, builder, sources: size)
    return withUnsafeTemporaryAllocation(
      of: RowCopier.Child.self, capacity: max(known.count, 1)
    ) { children in
      for (position, index) in known.enumerated() {
        let source = source(Int(plan.checks[index].offset))
        children[position] = source.map { copier.child(index, $0) } ?? RowCopier.Child()
      }
      guard copier.isComplete,
        let overlay = builder.startTable(
          over: old, core: core, slotCount: Int(table.slotCount), inlineSize: inlineSize,
          stays: { !written.contains($0) })
      else { return false }
      copier.add(table, children, source)
      builder.finish(builder.endTable(overlay))
      return true
    }
  }

  /// Whether a buffer that was laid over a part of the row has the expected content.
  private func isRight(_ bytes: UnsafeRawBufferPointer, _ changes: FieldSet) -> Bool {
    let (old, new) = (old, new)
    guard (try? layout.verify(bytes)) != nil, let written = TableReader(root: bytes) else {
      return false
    }
    return layout.properties.allSatisfy { property in
      let source = changes.contains(property.offset) ? new : old
      return property.isEqual(written, source, byBits: true)
    }
  }
}
