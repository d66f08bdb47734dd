// Strings: UTF-8, then one NUL. So they end by themselves, and "car" comes before "cart".
//
// The order is that of the UTF-8 bytes. Swift's `<` compares normal forms; the two differ for strings in different normal forms.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

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
    let length = try deserializer.lengthUpToNUL()
    let rest = deserializer.rawSpan
    // The NUL is there, so this form, which is no generic function, stops at it.
    let text = rest.withUnsafeBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.flatMap { String(validatingCString: $0) }
      }
    }
    guard let text else { throw .invalidValue }
    try deserializer.advance(by: length &+ 1)
    return text
  }
}

@usableFromInline
func containsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
  guard let base = bytes.baseAddress else { return false }
  return memchr(base, 0, bytes.count) != nil
}

extension Deserializer {
  /// How many bytes there are before the next NUL.
  @usableFromInline
  func lengthUpToNUL() throws(DeserializeError) -> Int {
    if remaining == 0 { throw .invalidValue }
    let rest = rawSpan
    let length = rest.withUnsafeBytes { bytes -> Int? in
      guard let base = bytes.baseAddress, let nul = memchr(base, 0, bytes.count) else {
        return nil
      }
      return UnsafeRawPointer(nul) - base
    }
    guard let length else { throw .endOfBufferReached(bytes.byteCount &+ 1, bytes.byteCount) }
    return length
  }
}
