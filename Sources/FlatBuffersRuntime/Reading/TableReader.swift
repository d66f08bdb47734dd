// TableReader: a table read in place, from bytes that nobody vouches for.
//
// Made only when the table's reference to its vtable, and the vtable, lie in the buffer:
//
//  - position + 4 <= bytes.count;
//  - vtable + vtableSize <= bytes.count, vtableSize >= 2 and even.
//
// A vtable may end behind its own size: Google's Swift builder writes tables without fields so. The
// size of the table, which comes next in a vtable, is not relied on: the C++ verifier does not read
// it either, so buffers that it accepts may state anything. Instead each field is compared with
// the vtable's size and with the end of the buffer. A field that ends outside the buffer reads as
// absent; `locate` tells the difference for those who report damage.

/// A table in a FlatBuffers buffer, read in place.
///
/// A reader does not own its memory: it is valid as long as `bytes` is. Fields are named by their
/// vtable offset, `4 + 2 * slot`. Whatever the bytes are, no call reads outside of them and none
/// traps; a field that does not fit reads as absent. Like any pointer, it may be used from several
/// threads as long as nobody writes the memory.
///
///     guard let post = TableReader(root: bytes) else { throw … }
///     let title = post.string(at: 4) ?? ""
///     let priority = post.scalar(at: 10, default: Int32(0))
@frozen
public struct TableReader {
  /// The whole buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// Where the table begins in `bytes`.
  public let position: Int
  /// Where the table's vtable begins in `bytes`.
  public let vtable: Int
  /// The vtable's own size in bytes: 2 if there is nothing in it but that, even if it says 0.
  public let vtableSize: UInt16

  /// The root table of a finished buffer, or nil if the bytes hold none.
  @inlinable @inline(__always)
  public init?(root bytes: UnsafeRawBufferPointer) {
    self.init(bytes, at: bytes.follow(0))
  }

  /// The root table of a buffer that begins with its own size, or nil if the bytes hold none.
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

  /// The table at an absolute position, or nil if there is none inside `bytes`.
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

  /// How long the vtable says that the table's inline part is, in bytes: at least the 4 of the
  /// reference to the vtable, at most what the buffer has.
  ///
  /// It says how a well-behaved writer laid the table out. Whether a field can be read does not
  /// depend on it.
  public var objectSize: Int {
    let stated = vtableSize < 4 ? 4 : Int(bytes.uncheckedLoad(vtable &+ 2, as: UInt16.self))
    return min(max(stated, 4), bytes.count &- position)
  }

  /// Finds the inline value of a field.
  ///
  /// - Parameters:
  ///   - field: The vtable offset, `4 + 2 * slot`.
  ///   - size: The size of the inline value in bytes: the scalar's or struct's, 4 for what is
  ///     behind an offset.
  /// - Returns: The value's absolute position, always positive, of which `size` bytes are inside
  ///   the buffer; 0 if the field is absent; -1 if it ends outside the buffer.
  @inlinable @inline(__always)
  public func locate(_ field: Int, size: Int) -> Int {
    // Unsigned, so that a negative field is past the vtable's end as well.
    guard UInt(bitPattern: field) < UInt(vtableSize) &- 1 else { return 0 }
    let offset = bytes.uncheckedLoad(vtable &+ field, as: UInt16.self)
    if offset == 0 { return 0 }
    let place = position &+ Int(offset)
    return bytes.contains(place, size: size) ? place : -1
  }

  /// Whether the table holds the field, well-formed or not.
  @inlinable @inline(__always)
  public func contains(_ field: Int) -> Bool { locate(field, size: 0) != 0 }

  /// How many fields the table holds, known to a schema or not; a union's tag is one of them.
  @inlinable
  public var fieldCount: Int {
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
    let place = locate(field, size: MemoryLayout<T>.size)
    guard place > 0 else { return `default` }
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + place)
  }

  /// A scalar field without a default, or nil if it is absent.
  @inlinable @inline(__always)
  public func scalar<T: FlatBufferScalar>(at field: Int) -> T? {
    let place = locate(field, size: MemoryLayout<T>.size)
    guard place > 0 else { return nil }
    return T.read(from: bytes.baseAddress.unsafelyUnwrapped + place)
  }

  /// A string field, or nil if it is absent. What is not UTF-8 is replaced by U+FFFD.
  ///
  /// A union's value is read with the same call when its type says that it is a string.
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

  /// A struct field, or nil if it is absent. `size` is the struct's size in bytes with its padding.
  @inlinable @inline(__always)
  public func structure(at field: Int, size: Int) -> StructReader? {
    let place = locate(field, size: size)
    return place > 0 ? StructReader(unchecked: bytes, position: place, size: size) : nil
  }

  /// A table field, or a union's value that is a table; nil if it is absent.
  @inlinable
  public func table(at field: Int) -> TableReader? {
    let target = target(field)
    return target < 0 ? nil : TableReader(bytes, at: target)
  }

  /// A vector field whose elements are `stride` bytes apart (4 for what is behind offsets); nil if
  /// absent.
  ///
  /// All elements lie in the buffer; what their offsets refer to is checked when it is read.
  @inlinable @inline(__always)
  public func vector(at field: Int, stride: Int) -> VectorReader? {
    let target = target(field)
    return target < 0 ? nil : VectorReader(bytes, at: target, stride: stride)
  }

  /// A union's value that is a struct of `size` bytes (such a value is behind an offset); nil if
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
    let place = locate(field, size: 4)
    return place > 0 ? bytes.uncheckedFollow(place) : -1
  }
}
