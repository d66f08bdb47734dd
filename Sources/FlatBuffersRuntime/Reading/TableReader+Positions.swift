// Reading by absolute position, for callers that interpret a layout that is given as data.
//
// `locate` and `VectorReader.position(of:)` return positions of inline values. These functions read
// the inline value at a position, or follow the uoffset there. They check every position. An offset
// of 0 is treated as a null element of a vector (`followElement`).

extension TableReader {
  /// The scalar at an absolute position, or nil if it would end outside the buffer.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(atPosition position: Int) -> T? {
    guard bytes.contains(position, size: MemoryLayout<T>.size) else { return nil }
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + position)
  }

  /// The struct at an absolute position, or nil if it would end outside the buffer.
  @inlinable @inline(__always)
  public func structure(atPosition position: Int, size: Int) -> StructReader? {
    StructReader(bytes, at: position, size: size)
  }

  /// The bytes of the string that the offset at `position` refers to, without the NUL; nil if it is
  /// not inside the buffer.
  @inlinable @inline(__always)
  public func utf8(atPosition position: Int) -> UnsafeRawBufferPointer? {
    let target = bytes.followElement(position)
    return target < 0 ? nil : bytes.utf8(target)
  }

  /// The string that the offset at `position` refers to, repaired if it is not UTF-8; nil if it is
  /// not inside the buffer.
  @inlinable
  public func string(atPosition position: Int) -> String? {
    utf8(atPosition: position).map(String.init(repairing:))
  }

  /// The table that the offset at `position` refers to; nil if it is not inside the buffer.
  @inlinable
  public func table(atPosition position: Int) -> TableReader? {
    let target = bytes.followElement(position)
    return target < 0 ? nil : TableReader(bytes, at: target)
  }

  /// The vector that the offset at `position` refers to; nil if it is not inside the buffer.
  @inlinable @inline(__always)
  public func vector(atPosition position: Int, stride: Int) -> VectorReader? {
    let target = bytes.followElement(position)
    return target < 0 ? nil : VectorReader(bytes, at: target, stride: stride)
  }

  /// The struct that the offset at `position` refers to, as a union stores it; nil if it is not
  /// inside the buffer.
  @inlinable @inline(__always)
  public func indirectStructure(atPosition position: Int, size: Int) -> StructReader? {
    let target = bytes.followElement(position)
    return target < 0 ? nil : StructReader(bytes, at: target, size: size)
  }
}
