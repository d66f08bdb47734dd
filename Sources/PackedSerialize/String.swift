// Strings: UTF-8, then one NUL. So they end by themselves, and "car" comes before "cart".
//
// The order is that of the UTF-8 bytes. Swift's `<` compares normal forms; the two differ for strings in different normal forms.

import Platform

extension String: Serializable, Deserializable {
  /// The bytes of UTF-8, and one.
  @inlinable public var serializedSize: Int { utf8.count + 1 }

  /// Writes UTF-8 and one NUL.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    var text = self
    text.withUTF8 { buffer.write(UnsafeRawBufferPointer($0)) }
    buffer.write(0 as UInt8)
  }

  /// Writes UTF-8 and one NUL, and refuses a string that contains a NUL.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    var text = self
    text.withUTF8 { writer.write(text: $0) }
  }

  /// Refuses a string that contains a NUL.
  ///
  /// - Parameter form: What the bytes are for.
  /// - Throws: `nulInString`.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    var text = self
    if text.withUTF8({ containsNUL($0) }) { throw .nulInString }
  }

  /// Reads up to the next NUL.
  ///
  /// - Parameter deserializer: Stands on the first byte.
  /// - Throws: `invalidValue` if the bytes are not UTF-8 or there are none, `endOfBufferReached` if there is no NUL.
  /// - Returns: The string.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending String {
    try deserializer.requireNUL()
    // A NUL is there, so this form, which is no generic function and does not mend, stops at it.
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
    // And the terminator.
    guard text.count < room else { return fail(.tooLong) }
    if containsNUL(text) { return refuse(.nulInString) }
    if let base = text.baseAddress { next.copyMemory(from: base, byteCount: text.count) }
    next.storeBytes(of: 0, toByteOffset: text.count, as: UInt8.self)
    next += text.count + 1
    room &-= text.count + 1
  }
}

extension Deserializer {
  /// Throws unless there is a NUL somewhere in what is not consumed yet.
  @inlinable
  mutating func requireNUL() throws(DeserializeError) {
    if offset <= lastNUL { return }
    try findLastNUL()
  }

  /// Looks for the last NUL: once, however many strings there are, and from the end, where it is near.
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
