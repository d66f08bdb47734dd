// URLs: the text as a string; of a relative URL its own text, a line feed, and the text of its
// base.
//
// Texts that differ may be equal URLs for a server, and no order of them is of use, so a URL is no
// key.

public import Foundation
internal import StandardConformances

extension URL: Serializable, Deserializable {
  /// The bytes of the text, and one for the NUL at its end.
  public var serializedSize: Int { storedText.serializedSize }

  /// Writes the text as a string.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    storedText.serialize(into: &buffer)
  }

  /// Checks that the text is read as this URL.
  ///
  /// - Parameter form: The form that the URL is checked for.
  /// - Throws: `nulInString`, or `unreadable`.
  public func validate(as form: SerializedForm) throws(SerializeError) {
    let text = storedText
    try text.validate(as: form)
    if URL(storedText: text) != self { throw .unreadable }
  }

  /// True.
  public static var keepsValuesDistinct: Bool { true }

  /// Reads the text.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `invalidValue` if the text is no URL, and the errors of reading a string.
  /// - Returns: The URL.
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending URL {
    guard let url = URL(storedText: try String.unpack(with: &deserializer)) else {
      throw .invalidValue
    }
    return url
  }
}
