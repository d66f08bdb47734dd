// The text of generated code and of messages.

extension [String] {
  /// a, b
  package var commas: String { joined(separator: ", ") }
  /// One below the other.
  package var lines: String { joined(separator: "\n") }

  /// 'a', 'b'
  package var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}

extension String {
  /// The text in braces after a head, indented.
  package func wrapped(in head: String) -> String {
    let body = split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
    return "\(head) {\n\(body)\n}"
  }
}
