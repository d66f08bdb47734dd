// The builder's memory: all bytes of a buffer are allocated by `allocate` and `pad`.

extension FlatBufferBuilder {
  /// Allocates `size` bytes whose start is aligned to `alignment`, counted from the end. The
  /// padding after them is zeroed; the bytes are not. The pointer is valid until the next call that
  /// writes.
  @inlinable @inline(__always)
  func allocate(_ size: Int, alignment: Int) -> UnsafeMutableRawPointer {
    let start = pad(before: size, alignment: alignment) &- size
    head = start
    return memory + start
  }

  /// Writes zeroed padding such that the next `size` bytes will be aligned. Ensures that there is
  /// room for the padding, for these bytes, and for `more`.
  /// - Returns: `head`, which is not read again: the compiler cannot know that the padding is
  ///   written elsewhere.
  @inlinable @inline(__always) @discardableResult
  func pad(before size: Int, alignment: Int, and more: Int = 0) -> Int {
    // All sizes were checked to be below the maximum where they were passed in, so these sums do
    // not overflow.
    let padding = (0 &- (used &+ size)) & (alignment &- 1)
    let room = padding &+ size &+ more &+ Self.spare
    if room > head { grow(by: room) }
    let start = head
    let end = start &- padding
    // `minimumAlignment` is at least 4.
    if alignment > 4, alignment > minimumAlignment { minimumAlignment = alignment }
    if alignment <= Self.spare {
      // The bytes before the padding are free, so they may be zeroed as well, in one store. Storing
      // always is faster than a branch on whether there is padding, which is unpredictable.
      memory.storeBytes(of: 0, toByteOffset: start &- Self.spare, as: UInt64.self)
    } else if padding > 0 {
      (memory + end).initializeMemory(as: UInt8.self, repeating: 0, count: padding)
    }
    head = end
    return end
  }

  /// The number of bytes that are always free before the next bytes to be written.
  @usableFromInline static var spare: Int { 8 }

  /// The uoffset to store in the four bytes at `head` so that it refers to `offset`.
  @inlinable @inline(__always)
  func distance(to offset: Offset) -> UInt32 {
    let here = UInt32(truncatingIfNeeded: used)
    guard offset.rawValue < here &- 3 else { return noDistance() }
    return here &- offset.rawValue
  }

  /// What is stored for an offset that refers to no earlier byte of this buffer.
  @usableFromInline
  @inline(never)
  func noDistance() -> UInt32 {
    guard isOverflown else { misuse("the offset is not from this buffer") }
    return 0
  }

  /// Moves the written bytes to the end of a larger allocation. If the buffer would become too
  /// large, it is refused, and what was written is dropped.
  @usableFromInline
  @inline(never)
  func grow(by size: Int) {
    if used + size > maximumSize {
      overflow()
      // A single object is never larger than a buffer; see `checkedExtent`.
      if size <= head { return }
    }
    let needed = used + size
    let doubled = capacity > maximumSize / 2 ? maximumSize : capacity * 2
    let newCapacity = Self.roundedCapacity(max(needed, doubled))
    precondition(needed <= newCapacity, "an object is larger than a buffer")
    let newMemory = UnsafeMutableRawPointer.allocate(
      byteCount: newCapacity, alignment: Self.memoryAlignment)
    let newHead = newCapacity - used
    (newMemory + newHead).copyMemory(from: memory + head, byteCount: used)
    memory.deallocate()
    memory = newMemory
    head = newHead
    capacity = newCapacity
  }

  /// Refuses a buffer that is too large, and goes on with an empty one: values are written to the
  /// end, but the buffer is not what they say.
  @usableFromInline
  @inline(never)
  func overflow() {
    guard refusesMore else { misuse("a buffer has at most 2 GiB - 1 bytes") }
    refuse("a value needs more than the \(maximumSize) bytes that one can have")
    isOverflown = true
    head = capacity
    vtableCount = 0
    if tableStart >= 0 { tableStart = 0 }
  }

  /// Writes a table without fields in place of what was dropped.
  @usableFromInline
  @inline(never)
  func finishOverflown() {
    head = capacity
    minimumAlignment = 4
    vtableCount = 0
    startTable(slotCount: 0)
    let root = endTable()
    let destination = allocate(4, alignment: 4)
    destination.storeBytes(of: distance(to: root), as: UInt32.self)
    isFinished = true
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

  /// The size of `count` elements in bytes; nil if they and a vector's count do not fit the largest
  /// buffer, which is then refused.
  @inlinable @inline(__always)
  func checkedExtent(count: Int, stride: Int) -> Int? {
    let (extent, isTooGreat) = count.multipliedReportingOverflow(by: stride)
    guard count >= 0, stride >= 0 else { misuse("a size must not be negative") }
    guard !isTooGreat, extent <= maximumSize &- 256 else {
      overflow()
      return nil
    }
    return extent
  }
}
