// File identifiers: four bytes after the root offset that say which schema a buffer follows.

extension TableReader {
  /// Whether the buffer carries the file identifier, four bytes of UTF-8 after its root offset.
  ///
  /// False if the buffer is too short to hold one. A buffer that was written without an identifier
  /// has other data in this position.
  public static func hasFileIdentifier(
    _ identifier: String, in bytes: UnsafeRawBufferPointer, sizePrefixed: Bool = false
  ) -> Bool {
    let position = sizePrefixed ? 8 : 4
    guard bytes.contains(position, size: 4) else { return false }
    return bytes[position..<position + 4].elementsEqual(identifier.utf8)
  }
}
