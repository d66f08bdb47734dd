// Texts in command lines.

extension String {
  /// The text as a shell reads it as one word, for command lines in messages.
  package var shellWord: String {
    let isPlain = unicodeScalars.allSatisfy {
      !$0.isASCII || $0.properties.isAlphabetic || ("0"..."9").contains($0)
        || "/.,:@%+=_-".unicodeScalars.contains($0)
    }
    return isPlain && !isEmpty ? self : "'" + replacing("'", with: "'\\''") + "'"
  }
}
