// The builder's memory: all bytes of a buffer are allocated by `allocate` and `pad`.

extension FlatBufferBuilder {
  /// Allocates `size` bytes whose start is aligned to `alignment`, counted from the end. The
  /// padding after them is zeroed; the bytes are not. The pointer is valid until the next call that
  /// writes.
  @inlinable @inline(__always)
  func allocate(_ size: Int, alignment: Int) -> UnsafeMutableRawPointer {
    pad(before: size, alignment: alignment)
    head &-= size
    return memory + head
  }

  /// Writes zeroed padding such that the next `size` bytes will be aligned. Ensures that there is
  /// room for the padding, for these bytes, and for `more`.
  @inlinable @inline(__always)
  func pad(before size: Int, alignment: Int, and more: Int = 0) {
    // All sizes were checked to be below 2 GiB where they were passed in, so these sums do not
    // overflow.
    let padding = (0 &- (used &+ size)) & (alignment &- 1)
    let room = padding &+ size &+ more &+ Self.spare
    if room > head { grow(by: room) }
    // `minimumAlignment` is at least 4.
    if alignment > 4, alignment > minimumAlignment { minimumAlignment = alignment }
    if alignment <= Self.spare {
      // The bytes before the padding are free, so they may be zeroed as well, in one store. Storing
      // always is faster than a branch on whether there is padding, which is unpredictable.
      memory.storeBytes(of: 0, toByteOffset: head &- Self.spare, as: UInt64.self)
      head &-= padding
    } else if padding > 0 {
      head &-= padding
      (memory + head).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    }
  }

  /// The number of bytes that are always free before the next bytes to be written.
  @usableFromInline static var spare: Int { 8 }

  /// The uoffset to store in the four bytes at `head` so that it refers to `offset`.
  @inlinable @inline(__always)
  func distance(to offset: Offset) -> UInt32 {
    let here = UInt32(truncatingIfNeeded: used)
    guard offset.rawValue < here &- 3 else { misuse("the offset is not from this buffer") }
    return here &- offset.rawValue
  }

  /// Moves the written bytes to the end of a larger allocation.
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

  /// Rounds up to a multiple of the alignment, so that alignment from the end is also alignment in
  /// memory.
  static func roundedCapacity(_ capacity: Int) -> Int {
    let mask = memoryAlignment - 1
    return (min(capacity, flatBufferMaximumSize - mask) + mask) & ~mask
  }

  /// Called before each string, vector and table is written: none may be written while a table is
  /// open.
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
      misuse("an alignment must be a power of two up to 64")
    }
  }

  /// The size of `count` elements in bytes. Checks that they and a vector's count fit the largest
  /// buffer.
  @inlinable @inline(__always)
  func checkedExtent(count: Int, stride: Int) -> Int {
    let (extent, overflow) = count.multipliedReportingOverflow(by: stride)
    guard !overflow, count >= 0, stride >= 0, extent <= flatBufferMaximumSize &- 128 else {
      misuse("a buffer has at most 2 GiB - 1 bytes")
    }
    return extent
  }
}
