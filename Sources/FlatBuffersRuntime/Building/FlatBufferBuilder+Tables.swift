// Tables and their vtables.
//
// While a table is open, `slots` contains the start of each added field. Closing the table writes
// the vtable in front of it, without trailing empty slots, and removes it again if an equal vtable
// was written before.
//
// Padding after the first field does not belong to the table, and the end of a table is aligned to
// 4. The vtable therefore does not depend on the table's position: tables with the same fields,
// added widest first, have equal vtables.

extension FlatBufferBuilder {
  /// Opens a table of at most `slotCount` fields. Its children must already be written.
  @inlinable
  public func startTable(slotCount: Int) {
    checkBetweenTables()
    guard slotCount >= 0, slotCount <= 32_765 else { misuse("a table has at most 32765 slots") }
    if slotCount > slotCapacity { growSlots(to: slotCount) }
    self.slotCount = slotCount
    pad(before: 0, alignment: 4)
    tableStart = used
  }

  /// Adds a scalar, unless it equals its default bit by bit: -0.0 is added if the default is 0.0.
  ///
  /// `field` is the vtable offset, `4 + 2 * slot`.
  @inlinable @inline(__always)
  public func add<T: FlatBufferScalar>(_ value: T, at field: Int, default: T) {
    if value.hasSameBits(as: `default`) { return }
    allocateField(field, size: MemoryLayout<T>.size, alignment: MemoryLayout<T>.size)
      .storeBytes(of: value, as: T.self)
  }

  /// Adds a scalar that has no default, or leaves the field out if it is nil.
  @inlinable @inline(__always)
  public func add<T: FlatBufferScalar>(_ value: T?, at field: Int) {
    guard let value else { return }
    allocateField(field, size: MemoryLayout<T>.size, alignment: MemoryLayout<T>.size)
      .storeBytes(of: value, as: T.self)
  }

  /// Adds a reference to an object that was already written, or leaves the field out if it is
  /// `.none`.
  @inlinable @inline(__always)
  public func add(_ offset: Offset, at field: Int) {
    if offset == .none { return }
    let destination = allocateField(field, size: 4, alignment: 4)
    destination.storeBytes(of: distance(to: offset), as: UInt32.self)
  }

  /// Adds a struct inline. `fill` receives its memory, `size` zeroed bytes, and stores the members.
  @inlinable @inline(__always)
  public func addStructure(
    at field: Int, size: Int, alignment: Int, _ fill: (UnsafeMutableRawPointer) -> Void
  ) {
    checkAlignment(alignment)
    guard let extent = checkedExtent(count: 1, stride: size) else { return }
    let destination = allocateField(field, size: extent, alignment: alignment)
    destination.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    fill(destination)
  }

  /// Closes the open table and writes its vtable, or shares one that was already written.
  @inlinable
  public func endTable() -> Offset {
    guard tableStart >= 0 else { misuse("endTable without startTable") }
    var length = slotCount
    while length > 0, slots[length &- 1] == 0 { length &-= 1 }
    let vtableSize = 4 &+ 2 &* length
    // Space for the reference to the vtable. It is stored below, when the vtable's position is
    // known.
    pad(before: 4, alignment: 4, and: vtableSize)
    head &-= 4
    let table = used
    let objectSize = table &- tableStart
    if objectSize > Int(UInt16.max) { refuseTable(of: objectSize) }
    head &-= vtableSize
    let vtable = memory + head
    let sizes = writeVTable(to: vtable, of: table, objectSize: objectSize, length: length)

    var shared = used
    if let earlier = earlierVTable(equalTo: vtable, sizes) {
      head &+= vtableSize
      shared = earlier
    } else {
      vtables[vtableCount & (Self.sharedVTables &- 1)] = (sizes, UInt32(truncatingIfNeeded: used))
      vtableCount &+= 1
    }
    // The vtable is at table - value; offsets count from the end, so that is their difference.
    (memory + (capacity &- table)).storeBytes(
      of: Int32(truncatingIfNeeded: shared &- table), as: Int32.self)
    tableStart = -1
    slotCount = 0
    return Offset(rawValue: UInt32(truncatingIfNeeded: table))
  }

  @usableFromInline
  func refuseTable(of size: Int) {
    refuse("a table can have 65535 bytes of scalars and structs, and this one has \(size)")
  }

  /// Writes the vtable of the open table: its size, the table's size, and the offset of each field.
  /// Clears the slots for the next table.
  ///
  /// - Returns: Both sizes in their written form.
  @inlinable @inline(__always) @discardableResult
  func writeVTable(
    to vtable: UnsafeMutableRawPointer, of table: Int, objectSize: Int, length: Int
  ) -> UInt32 {
    let sizes = UInt32(truncatingIfNeeded: objectSize &<< 16 | (4 &+ 2 &* length))
    vtable.storeBytes(of: sizes, as: UInt32.self)
    let slots = slots
    for slot in 0..<length {
      let start = slots[slot]
      slots[slot] = 0
      let offset = start == 0 ? 0 : UInt16(truncatingIfNeeded: table &- Int(start))
      vtable.storeBytes(of: offset, toByteOffset: 4 &+ 2 &* slot, as: UInt16.self)
    }
    return sizes
  }

  /// Allocates a field of the open table and records its position in its slot.
  @inlinable @inline(__always)
  func allocateField(_ field: Int, size: Int, alignment: Int) -> UnsafeMutableRawPointer {
    let slot = (field &- 4) &>> 1
    guard field & 1 == 0, UInt(bitPattern: slot) < UInt(bitPattern: slotCount) else {
      misuse(tableStart < 0 ? "a field is added outside of a table" : "the table has no such slot")
    }
    guard slots[slot] == 0 else { misuse("the field is added twice") }
    let isFirst = used == tableStart
    let end = pad(before: size, alignment: alignment)
    if isFirst { tableStart = capacity &- end }
    let start = end &- size
    head = start
    slots[slot] = UInt32(truncatingIfNeeded: capacity &- start)
    return memory + start
  }

  /// The offset of an earlier vtable with the same bytes, searched from the newest. Most different
  /// vtables already differ in their sizes.
  @inlinable @inline(__always)
  func earlierVTable(equalTo vtable: UnsafeMutableRawPointer, _ sizes: UInt32) -> Int? {
    var index = vtableCount
    let end = max(0, vtableCount &- Self.sharedVTables)
    while index > end {
      index &-= 1
      let other = vtables[index & (Self.sharedVTables &- 1)]
      let offset = Int(other.offset)
      let size = Int(UInt16(truncatingIfNeeded: sizes))
      if other.sizes == sizes, sameBytes(vtable, memory + (capacity &- offset), from: 4, to: size) {
        return offset
      }
    }
    return nil
  }

  @usableFromInline
  func sameBytes(
    _ one: UnsafeMutableRawPointer, _ other: UnsafeMutableRawPointer, from start: Int, to end: Int
  ) -> Bool {
    var offset = start
    while offset &+ 8 <= end {
      if one.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        != other.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      {
        return false
      }
      offset &+= 8
    }
    while offset < end {
      if one.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
        != other.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
      {
        return false
      }
      offset &+= 2
    }
    return true
  }

  @usableFromInline
  @inline(never)
  func growSlots(to count: Int) {
    let newCapacity = max(count, slotCapacity * 2)
    slots.deallocate()
    slots = .allocate(capacity: newCapacity)
    slots.initialize(repeating: 0, count: newCapacity)
    slotCapacity = newCapacity
  }
}
