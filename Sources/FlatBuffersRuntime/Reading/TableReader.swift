// TableReader: a table that is read in place, from untrusted bytes.
//
// A reader exists only if the table's reference to its vtable, and the vtable, are inside the
// buffer:
//
//  - position + 4 <= bytes.count;
//  - vtable + vtableSize <= bytes.count, vtableSize >= 2 and even.
//
// A vtable may consist of only its own size: Google's Swift builder writes tables without fields
// that way. The size of the table, the next number in a vtable, is not relied on. The C++ verifier
// does not read it either, so it may be anything in buffers that the C++ verifier accepts. Instead,
// each field is checked against the vtable's size and the end of the buffer. A field that ends
// outside the buffer reads as absent; `locate` distinguishes the two cases for callers that report
// damage.

/// A table in a FlatBuffers buffer, read in place.
///
/// A reader does not own its memory: it is valid as long as `bytes` is. Fields are identified by
/// their vtable offset, `4 + 2 * slot`. Whatever the bytes are, no call reads outside of them and
/// none traps; a field that does not fit reads as absent. Like a pointer, a reader may be used from
/// several threads as long as no thread writes to the memory.
///
///     guard let post = TableReader(root: bytes) else { throw … }
///     let title = post.string(at: 4) ?? ""
///     let priority = post.scalar(at: 10, default: Int32(0))
@frozen
public struct TableReader {
  /// The whole buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// The start of the table in `bytes`.
  public let position: Int
  /// The start of the table's vtable in `bytes`.
  @usableFromInline package let vtable: Int
  /// The vtable's own size in bytes. At least 2, even if the vtable states 0.
  @usableFromInline package let vtableSize: UInt16

  /// The root table of a finished buffer, or nil if the bytes contain none.
  @inlinable @inline(__always)
  public init?(root bytes: UnsafeRawBufferPointer) {
    self.init(bytes, at: bytes.follow(0))
  }

  /// The root table of a buffer that begins with its own size, or nil if the bytes contain none.
  ///
  /// `bytes` of the reader are those after the prefix. Bytes after the prefixed size are ignored.
  @inlinable
  public init?(sizePrefixedRoot bytes: UnsafeRawBufferPointer) {
    let size = bytes.vectorCount(0, stride: 1)
    guard size >= 0 else { return nil }
    let rest = UnsafeRawBufferPointer(
      start: bytes.baseAddress.unsafelyUnwrapped + 4, count: size)
    self.init(root: rest)
  }

  /// The table at an absolute position, or nil if there is no valid one inside `bytes`.
  @inlinable @inline(__always)
  public init?(_ bytes: UnsafeRawBufferPointer, at position: Int) {
    guard bytes.contains(position, size: 4) else { return nil }
    let vtable = position &- Int(bytes.uncheckedLoad(position, as: Int32.self))
    guard bytes.contains(vtable, size: 2) else { return nil }
    let vtableSize = bytes.uncheckedLoad(vtable, as: UInt16.self)
    guard vtableSize & 1 == 0, Int(vtableSize) <= bytes.count &- vtable else { return nil }
    self.bytes = bytes
    self.position = position
    self.vtable = vtable
    self.vtableSize = max(vtableSize, 2)
  }

  /// The size of the table's inline part in bytes, as stated in the vtable. At least 4, the size of
  /// the reference to the vtable, and at most the rest of the buffer.
  ///
  /// A well-behaved writer states the real size. Whether a field can be read does not depend on it.
  package var objectSize: Int {
    let stated = vtableSize < 4 ? 4 : Int(bytes.uncheckedLoad(vtable &+ 2, as: UInt16.self))
    return min(max(stated, 4), bytes.count &- position)
  }

  /// Finds the inline value of a field.
  ///
  /// - Parameters:
  ///   - field: The vtable offset, `4 + 2 * slot`.
  ///   - size: The size of the inline value in bytes: that of the scalar or struct, 4 for an
  ///     offset.
  /// - Returns: The value's absolute position, always positive, of which `size` bytes are inside
  ///   the buffer; 0 if the field is absent; -1 if it ends outside the buffer.
  @inlinable @inline(__always)
  package func locate(_ field: Int, size: Int) -> Int {
    // Compared as unsigned, so that a negative field is also past the vtable's end.
    guard UInt(bitPattern: field) < UInt(vtableSize) &- 1 else { return 0 }
    let offset = bytes.uncheckedLoad(vtable &+ field, as: UInt16.self)
    if offset == 0 { return 0 }
    let location = position &+ Int(offset)
    return bytes.contains(location, size: size) ? location : -1
  }

  /// Whether the table has the field, well-formed or not.
  @inlinable @inline(__always)
  public func contains(_ field: Int) -> Bool { locate(field, size: 0) != 0 }

  /// The number of fields in the table, including those that a schema does not know. A union's tag
  /// counts as a field.
  @inlinable
  package var fieldCount: Int {
    var count = 0
    var field = 4
    while field < Int(vtableSize) {
      if bytes.uncheckedLoad(vtable &+ field, as: UInt16.self) != 0 { count &+= 1 }
      field &+= 2
    }
    return count
  }

  /// A scalar field, or its default if it is absent.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(at field: Int, default: T) -> T {
    let location = locate(field, size: MemoryLayout<T>.size)
    guard location > 0 else { return `default` }
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + location)
  }

  /// A scalar field without a default, or nil if it is absent.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(at field: Int) -> T? {
    let location = locate(field, size: MemoryLayout<T>.size)
    guard location > 0 else { return nil }
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + location)
  }

  /// A string field, or nil if it is absent. Invalid UTF-8 is replaced by U+FFFD.
  ///
  /// Also reads a union's value whose type is a string.
  @inlinable
  public func string(at field: Int) -> String? {
    utf8(at: field).map(String.init(repairing:))
  }

  /// The bytes of a string or byte vector field without the closing NUL, or nil if it is absent.
  @inlinable @inline(__always)
  public func utf8(at field: Int) -> UnsafeRawBufferPointer? {
    let target = target(field)
    return target < 0 ? nil : bytes.utf8(target)
  }

  /// A struct field, or nil if it is absent. `size` is the struct's size in bytes, including its
  /// padding.
  @inlinable @inline(__always)
  public func structure(at field: Int, size: Int) -> StructReader? {
    let location = locate(field, size: size)
    return location > 0 ? StructReader(unchecked: bytes, position: location, size: size) : nil
  }

  /// A table field, or a union's value that is a table; nil if it is absent.
  @inlinable
  public func table(at field: Int) -> TableReader? {
    let target = target(field)
    return target < 0 ? nil : TableReader(bytes, at: target)
  }

  /// A vector field whose elements are `stride` bytes apart (4 for offsets); nil if absent.
  ///
  /// All elements are inside the buffer. The targets of their offsets are checked when they are
  /// read.
  @inlinable @inline(__always)
  public func vector(at field: Int, stride: Int) -> VectorReader? {
    let target = target(field)
    return target < 0 ? nil : VectorReader(bytes, at: target, stride: stride)
  }

  /// A union's value that is a struct of `size` bytes, which is stored behind an offset; nil if
  /// absent.
  @inlinable @inline(__always)
  public func indirectStructure(at field: Int, size: Int) -> StructReader? {
    let target = target(field)
    return target < 0 ? nil : StructReader(bytes, at: target, size: size)
  }

  /// The position that a field's offset refers to, inside the buffer or at its end; -1 if there is
  /// none.
  @inlinable @inline(__always)
  func target(_ field: Int) -> Int {
    let location = locate(field, size: 4)
    return location > 0 ? bytes.uncheckedFollow(location) : -1
  }
}
