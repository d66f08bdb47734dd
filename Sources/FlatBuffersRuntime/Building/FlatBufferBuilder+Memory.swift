// Room in the builder's memory: all bytes of a buffer come from `allocate` and `pad`.

extension FlatBufferBuilder {
  /// Room for `size` bytes whose start is `alignment` aligned, counted from the end. The padding
  /// behind them is zeroed; they are not. The pointer is valid until the next call that writes.
  @inlinable @inline(__always)
  func allocate(_ size: Int, alignment: Int) -> UnsafeMutableRawPointer {
    pad(before: size, alignment: alignment)
    head &-= size
    return memory + head
  }

  /// Zeroes so many bytes that `size` more will end on an aligned place, and makes room for all of
  /// them, and for `more`.
  @inlinable @inline(__always)
  func pad(before size: Int, alignment: Int, and more: Int = 0) {
    // Sizes from outside are below 2 GiB (checked where they come in), so these sums do not
    // overflow.
    let padding = (0 &- (used &+ size)) & (alignment &- 1)
    let room = padding &+ size &+ more &+ Self.spare
    if room > head { grow(by: room) }
    // The least is 4 already.
    if alignment > 4, alignment > minimumAlignment { minimumAlignment = alignment }
    if alignment <= Self.spare {
      // What lies before the padding is free, so it may be zeroed as well, in one store. Whether
      // there is any padding is not asked: the answer cannot be foreseen.
      memory.storeBytes(of: 0, toByteOffset: head &- Self.spare, as: UInt64.self)
      head &-= padding
    } else if padding > 0 {
      head &-= padding
      (memory + head).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    }
  }

  /// So many free bytes are always there before what is written next.
  @usableFromInline static var spare: Int { 8 }

  /// The uoffset to store in the four bytes at `head` so that it refers to `offset`.
  @inlinable @inline(__always)
  func distance(to offset: Offset) -> UInt32 {
    let here = UInt32(truncatingIfNeeded: used)
    guard offset.rawValue < here &- 3 else { misuse("the offset is not from this buffer") }
    return here &- offset.rawValue
  }

  /// Moves what is written to the end of a larger memory.
  @usableFromInline
  @inline(never)
  func grow(by size: Int) {
    let needed = used + size
    guard needed <= flatBufferMaximumSize else { misuse("a buffer has at most 2 GiB - 1 bytes") }
    let doubled = capacity > flatBufferMaximumSize / 2 ? flatBufferMaximumSize : capacity * 2
    let newCapacity = Self.roundedCapacity(max(needed, doubled))
    guard needed <= newCapacity else { misuse("a buffer has at most 2 GiB - 1 bytes") }
    let newMemory = UnsafeMutableRawPointer.allocate(
      byteCount: newCapacity, alignment: Self.memoryAlignment)
    let newHead = newCapacity - used
    (newMemory + newHead).copyMemory(from: memory + head, byteCount: used)
    memory.deallocate()
    memory = newMemory
    head = newHead
    capacity = newCapacity
  }

  /// A multiple of the alignment, so that what is aligned from the end is aligned in memory.
  static func roundedCapacity(_ capacity: Int) -> Int {
    let mask = memoryAlignment - 1
    return (min(capacity, flatBufferMaximumSize - mask) + mask) & ~mask
  }

  /// Strings, vectors and tables begin here: none may be written while a table's fields are added.
  @inlinable @inline(__always)
  func checkBetweenTables() {
    guard tableStart < 0 else {
      misuse("a table is open: its children are written before it is started")
    }
    guard !isFinished else { misuse("the buffer is finished; reset the builder first") }
  }

  @inlinable @inline(__always)
  func checkAlignment(_ alignment: Int) {
    guard alignment > 0, alignment & (alignment &- 1) == 0, alignment <= Self.memoryAlignment else {
      misuse("an alignment is a power of two up to 64")
    }
  }

  /// The size of so many elements with a vector's count, checked against the largest buffer.
  @inlinable @inline(__always)
  func checkedExtent(count: Int, stride: Int) -> Int {
    let (extent, overflow) = count.multipliedReportingOverflow(by: stride)
    guard !overflow, count >= 0, stride >= 0, extent <= flatBufferMaximumSize &- 128 else {
      misuse("a buffer has at most 2 GiB - 1 bytes")
    }
    return extent
  }
}
