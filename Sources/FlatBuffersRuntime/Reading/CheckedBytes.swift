// Checked access to a buffer. Only this file follows offsets.
//
// `position` is an absolute position, counted from the buffer's first byte. Functions named
// `unchecked` trust the position that they are given, because the caller has checked it; all other
// functions check it. A position that a function returns has been checked for the extent that its
// comment states. Comparisons are between the bytes that remain in the buffer and the bytes that
// are needed. Nothing is added, so nothing can overflow, whatever Int's width.

extension UnsafeRawBufferPointer {
  @inlinable @inline(__always)
  func uncheckedLoad<T: BitwiseCopyable>(_ position: Int, as type: T.Type) -> T {
    baseAddress.unsafelyUnwrapped.loadUnaligned(fromByteOffset: position, as: type)
  }

  /// Whether `size` bytes from `position` are inside the buffer.
  @inlinable @inline(__always)
  func contains(_ position: Int, size: Int) -> Bool {
    UInt(bitPattern: position) <= UInt(bitPattern: count)
      && UInt(bitPattern: size) <= UInt(bitPattern: count &- position)
  }

  /// The position that the uoffset at `position` refers to, or -1 if that is outside the buffer or
  /// the offset is null. The four bytes of the offset must be in the buffer. The bytes at the
  /// result are not checked.
  @inlinable @inline(__always)
  func uncheckedFollow(_ position: Int) -> Int {
    let distance = UInt(uncheckedLoad(position, as: UInt32.self))
    guard distance != 0, distance <= UInt(bitPattern: count &- position) else { return -1 }
    return position &+ Int(bitPattern: distance)
  }

  /// Like `uncheckedFollow`, for an unchecked position.
  @inlinable @inline(__always)
  func follow(_ position: Int) -> Int {
    guard contains(position, size: 4) else { return -1 }
    return uncheckedFollow(position)
  }

  /// Like `uncheckedFollow`, for the offset of a vector's element.
  ///
  /// An element may be null, as in FlatBuffers for C++. It then refers to its own four bytes, which
  /// are zero: an empty string or a table without fields.
  @inlinable @inline(__always)
  func uncheckedFollowElement(_ position: Int) -> Int {
    let distance = UInt(uncheckedLoad(position, as: UInt32.self))
    guard distance <= UInt(bitPattern: count &- position) else { return -1 }
    return position &+ Int(bitPattern: distance)
  }

  /// Like `uncheckedFollowElement`, for an unchecked position.
  @inlinable @inline(__always)
  func followElement(_ position: Int) -> Int {
    guard contains(position, size: 4) else { return -1 }
    return uncheckedFollowElement(position)
  }

  /// The number of elements of the vector whose count is at `position`. All elements are in the
  /// buffer; -1 if they are not.
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
  /// Decodes UTF-8 and replaces invalid bytes by U+FFFD.
  @inlinable
  init(repairing bytes: UnsafeRawBufferPointer) {
    self = bytes.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: UTF8.self) }
  }
}
