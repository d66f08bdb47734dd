// A cursor over bytes. It never reads outside of them, at whatever address they stand.
//
// Kept true: 0 <= offset <= bytes.byteCount, and lastNUL, unless it is -1, is the offset of the last byte that is 0.

/// Reads packed values one after the other.
///
/// It lives no longer than the bytes. Keep it in a local `var` and pass it on `inout`:
///
///     var deserializer = Deserializer(span: data.bytes)
///     let count = try Int.unpack(with: &deserializer)
///     let name = try String.unpack(with: &deserializer)
public struct Deserializer: ~Copyable, ~Escapable, Sendable {
  @usableFromInline let bytes: RawSpan
  @usableFromInline var offset: Int
  /// -1 as long as nobody has looked, and if there is none.
  @usableFromInline var lastNUL: Int

  /// Begins at the first byte of a span.
  ///
  /// - Parameter span: The bytes.
  @inlinable
  @_lifetime(copy span)
  public init(span: RawSpan) {
    bytes = span
    offset = 0
    lastNUL = -1
  }

  /// Begins at the first byte of a buffer.
  ///
  /// - Parameter buffer: The bytes. They must stay where they are, and as they are, while the deserializer lives.
  @inlinable
  @_lifetime(borrow buffer)
  public init(_unsafeBytes buffer: UnsafeRawBufferPointer) {
    bytes = _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: buffer)
    offset = 0
    lastNUL = -1
  }

  /// Begins at the first byte of a buffer.
  ///
  /// - Parameter buffer: The bytes. They must stay where they are, and as they are, while the deserializer lives.
  @inlinable
  @_lifetime(borrow buffer)
  public init(_unsafeBytes buffer: UnsafeMutableRawBufferPointer) {
    let readOnly = UnsafeRawBufferPointer(buffer)
    bytes = _overrideLifetime(RawSpan(_unsafeBytes: readOnly), borrowing: buffer)
    offset = 0
    lastNUL = -1
  }

  /// The number of bytes that are not consumed yet.
  @inlinable var remaining: Int { bytes.byteCount &- offset }

  /// The bytes that are not consumed yet.
  @inlinable public var rawSpan: RawSpan {
    @_lifetime(copy self)
    get { bytes.extracting(unchecked: offset..<bytes.byteCount) }
  }

  /// Throws unless there are so many bytes left.
  @inlinable
  func require(_ count: Int) throws(DeserializeError) {
    if count > remaining { try refuse(count) }
  }

  @usableFromInline
  func refuse(_ count: Int) throws(DeserializeError) {
    let (end, isTooFar) = offset.addingReportingOverflow(count)
    throw .endOfBufferReached(isTooFar ? .max : end, bytes.byteCount)
  }

  /// Reads the memory of a value, whatever its alignment, and goes on behind it.
  ///
  /// - Parameters:
  ///   - t: The type to read. Any bytes must be a value of it.
  ///   - size: How many bytes to advance; at least those of the type are required to be there.
  /// - Throws: `endOfBufferReached` if there are fewer bytes, `invalidLength` for a negative size.
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
  /// - Parameter amount: How many.
  /// - Throws: `endOfBufferReached` if there are fewer, `invalidLength` for a negative amount.
  @inlinable
  public mutating func advance(by amount: Int) throws(DeserializeError) {
    guard amount >= 0 else { throw .invalidLength }
    try require(amount)
    offset &+= amount
  }
}
