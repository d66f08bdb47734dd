// VectorReader: a vector that is read in place.
//
// The initialiser checks its whole inline extent: position + count * stride <= bytes.count. The
// targets of its elements' offsets are checked by each read. An index outside 0..<count is a
// programming error and traps.

/// A vector in a FlatBuffers buffer, read in place. It is valid as long as `bytes` is.
///
/// Elements are scalars or structs, `stride` bytes apart, or offsets to strings, tables and members
/// of unions, which are 4 bytes apart.
@frozen
public struct VectorReader {
  /// The whole buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// The start of the first element in `bytes`.
  public let position: Int
  /// The number of elements.
  public let count: Int
  /// The distance between elements in bytes.
  @usableFromInline package let stride: Int

  /// The vector whose count is at an absolute position, or nil if it would end outside `bytes`.
  @inlinable @inline(__always)
  public init?(_ bytes: UnsafeRawBufferPointer, at position: Int, stride: Int) {
    precondition(stride > 0, "a vector's stride is positive")
    let count = bytes.vectorCount(position, stride: stride)
    guard count >= 0 else { return nil }
    self.bytes = bytes
    self.position = position &+ 4
    self.count = count
    self.stride = stride
  }

  /// The absolute position of an element's inline value, of which `stride` bytes are inside the
  /// buffer.
  @inlinable @inline(__always)
  public func position(of index: Int) -> Int {
    precondition(
      UInt(bitPattern: index) < UInt(bitPattern: count), "the index is outside the vector")
    return position &+ index &* stride
  }

  /// The elements' bytes in the buffer.
  @inlinable
  package var elementBytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[position..<(position + count * stride)])
  }

  /// The scalar at `index`. Its size must not exceed the stride.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(_ index: Int) -> T {
    precondition(MemoryLayout<T>.size <= stride, "the scalar is wider than the vector's stride")
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + position(of: index))
  }

  /// All elements as scalars. Copies them all at once if their representation allows it.
  @inlinable
  public func scalars<T: FlatBufferScalar>() -> [T] {
    precondition(MemoryLayout<T>.size <= stride, "the scalar is wider than the vector's stride")
    guard count > 0 else { return [] }
    let start = bytes.baseAddress.unsafelyUnwrapped + position
    return [T](unsafeUninitializedCapacity: count) { buffer, initialized in
      if T.acceptsAnyBytes && MemoryLayout<T>.size == stride {
        UnsafeMutableRawBufferPointer(buffer).baseAddress.unsafelyUnwrapped
          .copyMemory(from: start, byteCount: count &* stride)
      } else {
        for index in 0..<count {
          (buffer.baseAddress.unsafelyUnwrapped + index).initialize(
            to: T.read(from: start + index &* stride))
        }
      }
      initialized = count
    }
  }

  /// The bytes of the string at `index` without the NUL, or nil if it is not inside the buffer.
  @inlinable @inline(__always)
  public func utf8(_ index: Int) -> UnsafeRawBufferPointer? {
    let target = target(index)
    return target < 0 ? nil : bytes.utf8(target)
  }

  /// The string at `index`, repaired if it is not UTF-8, or nil if it is not inside the buffer.
  @inlinable
  public func string(_ index: Int) -> String? {
    utf8(index).map(String.init(repairing:))
  }

  /// All elements as strings. One that is not inside the buffer becomes an empty string, so that
  /// indices stay the same.
  @inlinable
  public func strings() -> [String] {
    // An uninitialised array of capacity 0 is the empty array that all threads share, and this
    // initialiser would write to it.
    if count == 0 { return [] }
    return [String](unsafeUninitializedCapacity: count) { buffer, initialized in
      for index in 0..<count {
        (buffer.baseAddress.unsafelyUnwrapped + index).initialize(to: string(index) ?? "")
      }
      initialized = count
    }
  }

  /// The struct at `index`; its size is the stride.
  @inlinable @inline(__always)
  public func structure(_ index: Int) -> StructReader {
    StructReader(unchecked: bytes, position: position(of: index), size: stride)
  }

  /// The table at `index`, or nil if it is not inside the buffer.
  @inlinable
  public func table(_ index: Int) -> TableReader? {
    let target = target(index)
    return target < 0 ? nil : TableReader(bytes, at: target)
  }

  /// The struct that the offset at `index` refers to, as vectors of unions store it; nil if it is
  /// not inside the buffer.
  @inlinable @inline(__always)
  public func indirectStructure(_ index: Int, size: Int) -> StructReader? {
    let target = target(index)
    return target < 0 ? nil : StructReader(bytes, at: target, size: size)
  }

  @inlinable @inline(__always)
  func target(_ index: Int) -> Int {
    precondition(stride >= 4, "a vector of offsets has a stride of 4")
    return bytes.uncheckedFollowElement(position(of: index))
  }
}
