// Overlays: a new table that replaces some fields of an old table and keeps all other fields where
// they are, even unknown ones.
//
// A field that the schema does not know cannot be copied: it may be a number or an offset, and an
// offset is meaningless elsewhere. Therefore the whole buffer that contains it, the core, becomes a
// part of the new buffer, and the new table extends from its own first byte into the inline part of
// the old table:
//
//   offset | table: new fields | vtable | core's size | core ... old table ... | new children
//          |<------------- the table's inline part ------------->|
//
// The core's size takes 4 bytes.
//
// Kept fields do not move relative to their targets. No other writer places a vtable inside its own
// table, so such a buffer can be recognised, and the next overlay uses the same core instead of the
// whole buffer.

extension TableReader {
  /// The range of the buffer that this table overlays; nil for an ordinary table.
  package var core: Range<Int>? {
    guard vtable > position, vtable < position &+ objectSize else { return nil }
    let start = vtable &+ Int(vtableSize) &+ 4
    guard bytes.contains(start &- 4, size: 4) else { return nil }
    let size = Int(truncatingIfNeeded: bytes.uncheckedLoad(start &- 4, as: UInt32.self))
    guard size > 0, bytes.contains(start, size: size) else { return nil }
    return start..<start &+ size
  }

  /// The end of the table's inline part: as its vtable states, or after the last field if that is
  /// further. Every field counts as 8 bytes, the widest scalar, because its size may be unknown.
  fileprivate var inlineEnd: Int {
    var end = position &+ objectSize
    for field in stride(from: 4, to: Int(vtableSize), by: 2) {
      let location = locate(field, size: 0)
      if location > 0 { end = max(end, min(location &+ 8, bytes.count)) }
    }
    return end
  }
}

extension FlatBufferBuilder {
  /// An open table that overlays another one.
  @usableFromInline package struct Overlay {
    /// The position of its vtable, counted from the end.
    let vtable: Int
  }

  /// Opens a table that overlays a table of another buffer. The children of new fields must already
  /// be written.
  ///
  /// - Parameters:
  ///   - source: A table of a buffer that is not this builder's.
  ///   - core: The part of that buffer that contains the kept fields, aligned like the buffer
  ///     itself.
  ///   - slotCount: The maximum number of known fields.
  ///   - inlineSize: The maximum number of inline bytes of new fields.
  ///   - stays: Whether to keep a field of the table. Fields outside the core are never kept.
  /// - Returns: The overlay, to be passed to `endTable`; nil if the tables are too large, and then
  ///   no table is open.
  package func startTable(
    over source: TableReader, core: Range<Int>, slotCount: Int, inlineSize: Int,
    stays: (Int) -> Bool
  ) -> Overlay? {
    let slotCount = max(slotCount, (Int(source.vtableSize) - 4) / 2)
    let vtableSize = 4 + 2 * slotCount
    // From the start of the core to the end of the old table's inline part.
    let keptSize = source.inlineEnd - core.lowerBound
    guard keptSize >= 0, keptSize <= core.count, let start = source.bytes.baseAddress,
      inlineSize + vtableSize + keptSize + 16 <= Int(UInt16.max),
      core.count <= maximumSize - used - (1 << 17)
    else { return nil }
    startTable(slotCount: slotCount)
    // Aligned for any contents of the old buffer.
    allocate(core.count, alignment: Self.memoryAlignment)
      .copyMemory(from: start + core.lowerBound, byteCount: core.count)
    let coreStart = used
    allocate(4, alignment: 4).storeBytes(of: UInt32(core.count), as: UInt32.self)
    _ = allocate(vtableSize, alignment: 2)
    tableStart = coreStart - keptSize
    for slot in 0..<slotCount {
      let field = 4 + 2 * slot
      let location = source.locate(field, size: 0)
      if location > 0, core.contains(location), stays(field) {
        slots[slot] = UInt32(coreStart - (location - core.lowerBound))
      }
    }
    return Overlay(vtable: used)
  }

  /// Closes a table that overlays another one.
  package func endTable(_ overlay: Overlay) -> Offset {
    guard tableStart >= 0 else { misuse("endTable without startTable") }
    _ = allocate(4, alignment: 4)
    let table = used
    writeVTable(
      to: memory + (capacity - overlay.vtable), of: table, objectSize: table - tableStart,
      length: slotCount)
    (memory + (capacity - table)).storeBytes(
      of: Int32(truncatingIfNeeded: overlay.vtable - table), as: Int32.self)
    tableStart = -1
    slotCount = 0
    return Offset(rawValue: UInt32(truncatingIfNeeded: table))
  }
}
