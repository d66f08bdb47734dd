// StructReader: a fixed-size struct read in place.
//
// The initialisers check its extent: position + size <= bytes.count. The schema fixes the distances
// of members, so a member outside the struct is a programming error rather than bad data, and
// traps.

/// A struct in a FlatBuffers buffer, read in place. It is valid as long as `bytes` is.
@frozen
public struct StructReader {
  /// The whole buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// The start of the struct in `bytes`.
  public let position: Int
  /// The struct's size in bytes, including its padding.
  public let size: Int

  /// The struct that is the root of a finished buffer, or nil if the bytes do not contain one of
  /// that size.
  @inlinable
  public init?(root bytes: UnsafeRawBufferPointer, size: Int) {
    self.init(bytes, at: bytes.follow(0), size: size)
  }

  /// The struct at an absolute position, or nil if it would end outside `bytes`.
  @inlinable @inline(__always)
  public init?(_ bytes: UnsafeRawBufferPointer, at position: Int, size: Int) {
    guard bytes.contains(position, size: size) else { return nil }
    self.init(unchecked: bytes, position: position, size: size)
  }

  @inlinable @inline(__always)
  init(unchecked bytes: UnsafeRawBufferPointer, position: Int, size: Int) {
    self.bytes = bytes
    self.position = position
    self.size = size
  }

  /// The scalar at `byteOffset` from the struct's start. It must be inside the struct.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(at byteOffset: Int) -> T {
    checkMember(byteOffset, size: MemoryLayout<T>.size)
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + (position &+ byteOffset))
  }

  /// The struct of `size` bytes at `byteOffset` from the struct's start. It must be inside the
  /// struct.
  ///
  /// Read an array of scalars or structs element by element, each at its own offset.
  @inlinable @inline(__always)
  public func structure(at byteOffset: Int, size: Int) -> StructReader {
    checkMember(byteOffset, size: size)
    return StructReader(unchecked: bytes, position: position &+ byteOffset, size: size)
  }

  @inlinable @inline(__always)
  func checkMember(_ byteOffset: Int, size memberSize: Int) {
    precondition(
      UInt(bitPattern: byteOffset) <= UInt(bitPattern: size)
        && UInt(bitPattern: memberSize) <= UInt(bitPattern: size &- byteOffset),
      "the member is outside its struct")
  }
}
