// Quoting: texts between quotation marks, as SQL and comma-separated values have them.

extension String {
  /// The text between two marks. The mark is doubled where it stands in the text.
  ///
  /// Bytes are compared: a mark with an accent is a `Character` of its own, but it ends a text.
  /// - Parameter mark: An ASCII character.
  package func quoted(by mark: Unicode.Scalar) -> String {
    let parts = utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: false)
    return "\(mark)" + parts.map { Substring($0) }.joined(separator: "\(mark)\(mark)") + "\(mark)"
  }
}
