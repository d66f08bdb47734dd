// What is wrong with the text of a query, and where.

/// An error in the text of a query.
///
/// Its description shows the text with a caret below the place:
///
///     no field 'priorty' in Post: did you mean 'priority'?
///       Post where priorty > 10
///                  ^~~~~~~
public struct QueryTextError: Error, Hashable, CustomStringConvertible {
  /// What is wrong, without a full stop.
  public let message: String
  /// What could be meant, or what to write instead; nil if there is nothing to say.
  public let hint: String?
  /// The text of the query.
  public let text: String
  /// The place in the text, as a range of bytes of its UTF-8.
  public let range: Range<Int>

  /// The message with the line of the text, and a caret below the place.
  public var description: String {
    let bytes = Array(text.utf8)
    let start = min(max(range.lowerBound, 0), bytes.count)
    let newline = UInt8(ascii: "\n")
    let lineStart = bytes[..<start].lastIndex(of: newline).map { $0 + 1 } ?? 0
    let lineEnd = bytes[start...].firstIndex(of: newline) ?? bytes.count
    func visible(_ part: ArraySlice<UInt8>) -> String {
      // A tab or another control character would move the caret to a wrong place.
      String(
        String(decoding: part, as: UTF8.self).map { character in
          character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            ? character : " "
        })
    }
    let line = visible(bytes[lineStart..<lineEnd])
    let before = visible(bytes[lineStart..<start]).count
    let end = min(max(range.upperBound, start), lineEnd)
    let length = max(1, visible(bytes[start..<end]).count)
    let caret =
      String(repeating: " ", count: before) + "^" + String(repeating: "~", count: length - 1)
    return message + (hint.map { ": \($0)" } ?? "") + "\n  \(line)\n  \(caret)"
  }
}
