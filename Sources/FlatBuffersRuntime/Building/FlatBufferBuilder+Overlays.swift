// Tables laid over others: some fields are new, all others stay where they are, whatever they are.
//
// A field that the schema does not know cannot be copied: it may be a number or an offset, and an offset means nothing
// elsewhere. So the buffer that holds it, the core, becomes a part of the new one as a whole, and the new table reaches from
// its own first byte into the inline part of the old table:
//
//   offset | table: new fields | vtable | core's size (4 bytes) | core ... old table ... | children of new fields
//          |<---------------- the table's inline part ---------------->|
//
// What stays keeps its place relative to everything it refers to. A vtable inside of its own table is found nowhere else, so
// such a buffer is known when it is met again, and the next table is laid over the same core instead of over all of it.

extension TableReader {
  /// Where the buffer lies that this table was laid over; nil for an ordinary table.
  public var core: Range<Int>? {
    guard vtable > position, vtable < position &+ objectSize else { return nil }
    let start = vtable &+ Int(vtableSize) &+ 4
    guard bytes.contains(start &- 4, size: 4) else { return nil }
    let size = Int(truncatingIfNeeded: bytes.uncheckedLoad(start &- 4, as: UInt32.self))
    guard size > 0, bytes.contains(start, size: size) else { return nil }
    return start..<start &+ size
  }

  /// Where the table's inline part ends: where its vtable says so, or behind the last field if
  /// that is further. A field that no schema knows counts 8 bytes, the widest scalar.
  fileprivate var inlineEnd: Int {
    var end = position &+ objectSize
    for field in stride(from: 4, to: Int(vtableSize), by: 2) {
      let place = locate(field, size: 0)
      if place > 0 { end = max(end, min(place &+ 8, bytes.count)) }
    }
    return end
  }
}

extension FlatBufferBuilder {
  /// A table that was opened over another one.
  public struct Overlay {
    /// Where its vtable will be, counted from the end.
    let vtable: Int
  }

  /// Opens a table over one of another buffer. The children of new fields must already be written.
  ///
  /// - Parameters:
  ///   - source: A table of a buffer that is not this builder's.
  ///   - core: The part of that buffer that what stays lies in, aligned as the buffer itself.
  ///   - slotCount: At most so many fields are known.
  ///   - inlineSize: At most so many bytes of new fields will be added.
  ///   - stays: Whether a field of the table stays. Those outside of the core do not.
  /// - Returns: What `endTable` wants; nil if the tables are too large, and nothing was opened.
  public func startTable(
    over source: TableReader, core: Range<Int>, slotCount: Int, inlineSize: Int,
    stays: (Int) -> Bool
  ) -> Overlay? {
    let slotCount = max(slotCount, (Int(source.vtableSize) - 4) / 2)
    let vtableSize = 4 + 2 * slotCount
    // From the core's beginning to the end of the old table's inline part.
    let kept = source.inlineEnd - core.lowerBound
    guard kept >= 0, kept <= core.count, let start = source.bytes.baseAddress,
      inlineSize + vtableSize + kept + 16 <= Int(UInt16.max),
      core.count <= flatBufferMaximumSize - used - (1 << 17)
    else { return nil }
    startTable(slotCount: slotCount)
    // Aligned for whatever the old buffer may hold.
    allocate(core.count, alignment: Self.memoryAlignment)
      .copyMemory(from: start + core.lowerBound, byteCount: core.count)
    let coreStart = used
    allocate(4, alignment: 4).storeBytes(of: UInt32(core.count), as: UInt32.self)
    _ = allocate(vtableSize, alignment: 2)
    tableStart = coreStart - kept
    for slot in 0..<slotCount {
      let field = 4 + 2 * slot
      let place = source.locate(field, size: 0)
      if place > 0, core.contains(place), stays(field) {
        slots[slot] = UInt32(coreStart - (place - core.lowerBound))
      }
    }
    return Overlay(vtable: used)
  }

  /// Closes a table that was opened over another one.
  public func endTable(_ overlay: Overlay) -> Offset {
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
