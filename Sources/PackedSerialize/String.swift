// Strings: UTF-8, then one NUL. The NUL makes them self-delimiting, and "car" sorts before "cart".
//
// The order is that of the UTF-8 bytes. Swift's `<` compares normalized strings, so the two orders
// differ for strings in different normalization forms.

import Platform

extension String: Serializable, Deserializable {
  /// The number of UTF-8 bytes, and one for the NUL.
  @inlinable public var serializedSize: Int { utf8.count + 1 }

  /// Writes UTF-8 and one NUL.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    var text = self
    text.withUTF8 { buffer.write(UnsafeRawBufferPointer($0)) }
    buffer.write(0 as UInt8)
  }

  /// Writes UTF-8 and one NUL. Fails for a string that contains a NUL.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    var text = self
    text.withUTF8 { writer.write(text: $0) }
  }

  /// Rejects a string that contains a NUL.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: `nulInString`.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    var text = self
    if text.withUTF8({ containsNUL($0) }) { throw .nulInString }
  }

  /// True.
  @inlinable public static var keepsValuesDistinct: Bool { true }

  /// Reads up to the next NUL.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `invalidValue` if the bytes are not UTF-8 or there are none, `endOfBufferReached` if
  ///   there is no NUL.
  /// - Returns: The string.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending String {
    try deserializer.requireNUL()
    // There is a NUL, so this initialiser stops within the bytes. It is not generic, and it does
    // not repair invalid UTF-8.
    let start = deserializer.offset
    let text = deserializer.bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap {
        String(validatingCString: ($0 + start).assumingMemoryBound(to: CChar.self))
      }
    }
    guard let text else { throw .invalidValue }
    deserializer.offset = start &+ text.utf8.count &+ 1
    return text
  }
}

@usableFromInline
func containsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let base = bytes.baseAddress else { return false }
  return memchr(base, 0, bytes.count) != nil
}

extension KeyWriter {
  @usableFromInline
  mutating func write(text: UnsafeBufferPointer<UInt8>) {
    // One more byte is needed for the terminator.
    guard text.count < room else { return fail(.tooLong) }
    if containsNUL(text) { return refuse(.nulInString) }
    if let base = text.baseAddress { next.copyMemory(from: base, byteCount: text.count) }
    next.storeBytes(of: 0, toByteOffset: text.count, as: UInt8.self)
    next += text.count + 1
    room &-= text.count + 1
  }
}

extension Deserializer {
  /// Throws unless there is a NUL in the bytes that have not been consumed.
  @inlinable
  mutating func requireNUL() throws(DeserializeError) {
    if offset <= lastNUL { return }
    try findLastNUL()
  }

  /// Searches for the last NUL. This happens once for any number of strings, and starts at the end,
  /// where a NUL is usually near.
  @usableFromInline
  mutating func findLastNUL() throws(DeserializeError) {
    if remaining == 0 { throw .invalidValue }
    var end = bytes.byteCount
    while end > offset {
      end &-= 1
      if bytes.unsafeLoad(fromUncheckedByteOffset: end, as: UInt8.self) == 0 {
        lastNUL = end
        return
      }
    }
    throw .endOfBufferReached(bytes.byteCount &+ 1, bytes.byteCount)
  }
}
