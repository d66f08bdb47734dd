// Values in the texts of errors.

extension String {
  /// The text for an error message. A long one is cut, and its length in bytes follows.
  package var shortened: String {
    guard let start = shortenedStart else { return self }
    return "\(start)… (\(utf8.count) bytes)"
  }

  /// The text as a literal, for an error.
  package var shortenedLiteral: String {
    guard let start = shortenedStart else { return String(reflecting: self) }
    return "\(String(reflecting: start))… (\(utf8.count) bytes)"
  }

  /// The beginning of a text that is too long; nil for any other.
  private var shortenedStart: String? {
    if utf8.count <= 240 { return nil }
    // By scalars: a character may have any number of them.
    var start = ""
    start.unicodeScalars.append(contentsOf: unicodeScalars.prefix(160))
    return start
  }
}
