// Checked access to a buffer: the only place that follows offsets.
//
// `position` is an absolute place in the buffer, from its first byte. The functions named
// `unchecked` trust the position they get (it was checked by the caller); all others check it. A
// result that is a position has been checked for the extent that the function's comment states.
// Comparisons are made between what is left in the buffer and what is asked for, never by adding,
// so they cannot overflow, whatever Int's width.

extension UnsafeRawBufferPointer {
  @inlinable @inline(__always)
  func uncheckedLoad<T: BitwiseCopyable>(_ position: Int, as type: T.Type) -> T {
    baseAddress.unsafelyUnwrapped.loadUnaligned(fromByteOffset: position, as: type)
  }

  /// Whether `size` bytes from `position` lie in the buffer.
  @inlinable @inline(__always)
  func contains(_ position: Int, size: Int) -> Bool {
    UInt(bitPattern: position) <= UInt(bitPattern: count)
      && UInt(bitPattern: size) <= UInt(bitPattern: count &- position)
  }

  /// The position that the uoffset at `position` refers to, or -1 if that is outside the buffer or
  /// the offset is null. The four bytes of the offset must be in the buffer; nothing is said about
  /// what the result holds.
  @inlinable @inline(__always)
  func uncheckedFollow(_ position: Int) -> Int {
    let distance = UInt(uncheckedLoad(position, as: UInt32.self))
    guard distance != 0, distance <= UInt(bitPattern: count &- position) else { return -1 }
    return position &+ Int(bitPattern: distance)
  }

  /// Like `uncheckedFollow`, for a position that comes from outside.
  @inlinable @inline(__always)
  func follow(_ position: Int) -> Int {
    guard contains(position, size: 4) else { return -1 }
    return uncheckedFollow(position)
  }

  /// Like `uncheckedFollow`, for the offset of a vector's element.
  ///
  /// An element may be null, as FlatBuffers in C++ has it: then its own four bytes, which are zero,
  /// are what it refers to, an empty string or a table without fields.
  @inlinable @inline(__always)
  func uncheckedFollowElement(_ position: Int) -> Int {
    let distance = UInt(uncheckedLoad(position, as: UInt32.self))
    guard distance <= UInt(bitPattern: count &- position) else { return -1 }
    return position &+ Int(bitPattern: distance)
  }

  /// Like `uncheckedFollowElement`, for a position that comes from outside.
  @inlinable @inline(__always)
  func followElement(_ position: Int) -> Int {
    guard contains(position, size: 4) else { return -1 }
    return uncheckedFollowElement(position)
  }

  /// The vector whose count is at `position`: its number of elements, which all lie in the buffer,
  /// or -1.
  @inlinable @inline(__always)
  func vectorCount(_ position: Int, stride: Int) -> Int {
    guard contains(position, size: 4) else { return -1 }
    let available = count &- position &- 4
    let elements = UInt(uncheckedLoad(position, as: UInt32.self))
    let (extent, overflow) = elements.multipliedReportingOverflow(by: UInt(bitPattern: stride))
    guard !overflow, extent <= UInt(bitPattern: available), elements <= UInt(Int.max) else {
      return -1
    }
    return Int(bitPattern: elements)
  }

  /// The bytes of the string or byte vector whose length is at `position`, without the NUL.
  @inlinable @inline(__always)
  func utf8(_ position: Int) -> UnsafeRawBufferPointer? {
    let length = vectorCount(position, stride: 1)
    guard length >= 0 else { return nil }
    return UnsafeRawBufferPointer(
      start: baseAddress.unsafelyUnwrapped + (position &+ 4), count: length)
  }
}

extension String {
  /// Repairs what is not UTF-8.
  @inlinable
  init(repairing bytes: UnsafeRawBufferPointer) {
    self = bytes.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
  }
}
