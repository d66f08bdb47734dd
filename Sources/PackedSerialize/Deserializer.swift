// A cursor over bytes. It never reads outside of them, and the bytes need not be aligned.
//
// Invariants: 0 <= offset <= bytes.byteCount, and lastNUL, unless it is -1, is the offset of the
// last byte that is 0.

/// Reads a sequence of packed values.
///
/// A deserializer cannot outlive the bytes. Keep it in a local `var` and pass it `inout`:
///
///     var deserializer = Deserializer(span: data.bytes)
///     let count = try Int.unpack(with: &deserializer)
///     let name = try String.unpack(with: &deserializer)
public struct Deserializer: ~Copyable, ~Escapable, Sendable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline var offset: Int
  /// -1 until the first search, or if there is none.
  @usableFromInline var lastNUL: Int
  /// Whether a dictionary with keys that are read as equal ones is an error, although their type
  /// does not keep them distinct: when it is checked whether a value can be stored.
  @usableFromInline var refusesEqualKeys = false

  /// Creates a deserializer at the first byte of a span.
  ///
  /// - Parameter span: The bytes.
  @inlinable
  @_lifetime(copy span)
  public init(span: RawSpan) {
    bytes = span
    offset = 0
    lastNUL = -1
  }

  /// Creates a deserializer at the first byte of a buffer.
  ///
  /// - Parameter buffer: The bytes. They must not move or change while the deserializer lives.
  @inlinable
  @_lifetime(borrow buffer)
  public init(_unsafeBytes buffer: UnsafeRawBufferPointer) {
    bytes = _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: buffer)
    offset = 0
    lastNUL = -1
  }

  /// Creates a deserializer at the first byte of a buffer.
  ///
  /// - Parameter buffer: The bytes. They must not move or change while the deserializer lives.
  @inlinable
  @_lifetime(borrow buffer)
  public init(_unsafeBytes buffer: UnsafeMutableRawBufferPointer) {
    let readOnly = UnsafeRawBufferPointer(buffer)
    bytes = _overrideLifetime(RawSpan(_unsafeBytes: readOnly), borrowing: buffer)
    offset = 0
    lastNUL = -1
  }

  /// The number of bytes that have not been consumed.
  @inlinable var remaining: Int { bytes.byteCount &- offset }

  /// The bytes that have not been consumed.
  @inlinable public var rawSpan: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(unchecked: offset..<bytes.byteCount) }
  }

  /// Throws unless at least `count` bytes remain.
  @inlinable
  func require(_ count: Int) throws(DeserializeError) {
    if count > remaining { try throwEndOfBuffer(needing: count) }
  }

  @usableFromInline
  func throwEndOfBuffer(needing count: Int) throws(DeserializeError) {
    let (end, overflows) = offset.addingReportingOverflow(count)
    throw .endOfBufferReached(overflows ? .max : end, bytes.byteCount)
  }

  /// Reads the memory of a value, which need not be aligned, and advances past it.
  ///
  /// - Parameters:
  ///   - t: The type to read. Any bytes must be a valid value of it.
  ///   - size: The number of bytes to advance. At least the size of the type must remain.
  /// - Throws: `endOfBufferReached` if fewer bytes remain, `invalidLength` for a negative size.
  /// - Returns: The value, in the byte order of this machine.
  @inlinable
  public mutating func unsafeLoad<T: BitwiseCopyable>(
    of t: T.Type, sized size: Int
  ) throws(DeserializeError) -> T {
    guard size >= 0 else { throw .invalidLength }
    try require(max(size, MemoryLayout<T>.size))
    let value = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: t)
    offset &+= size
    return value
  }

  /// Skips bytes.
  ///
  /// - Parameter amount: The number of bytes.
  /// - Throws: `endOfBufferReached` if fewer remain, `invalidLength` for a negative amount.
  @inlinable
  public mutating func advance(by amount: Int) throws(DeserializeError) {
    guard amount >= 0 else { throw .invalidLength }
    try require(amount)
    offset &+= amount
  }
}
