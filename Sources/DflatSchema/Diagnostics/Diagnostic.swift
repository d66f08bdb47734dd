// What the compiler has to say about a schema, as data and as text.
//
// A diagnostic carries everything its text needs, the source line included, so it can be shown after the sources
// are gone. It names the place where the user has to look, not the place where the compiler noticed.

/// One error, warning or note, with the place in the source that it is about.
public struct Diagnostic: Sendable {
  /// How bad it is. A compilation with at least one error has no schema.
  public enum Severity: String, Sendable {
    case error, warning, note
  }

  /// How bad it is.
  public var severity: Severity
  /// What is wrong and what was expected, in one line without a full stop.
  public var message: String
  /// Where it is; nil only for notes that are about no particular place.
  public var position: SourcePosition?
  /// The number of bytes to underline, at least 1.
  public var length: Int
  /// The source line that `position` is in, without its line break; empty if there is none to show.
  public var sourceLine: String
  /// What helps to understand or repair it.
  public var notes: [Diagnostic]

  /// Makes a diagnostic from its parts.
  public init(
    severity: Severity, message: String, position: SourcePosition?, length: Int = 1,
    sourceLine: String = "", notes: [Diagnostic] = []
  ) {
    self.severity = severity
    self.message = message
    self.position = position
    self.length = length
    self.sourceLine = sourceLine
    self.notes = notes
  }

  /// The text a compiler prints: `file:line:column: error: message`, the source line with the place underlined, then
  /// the notes in the same form. Lines are separated by line feeds; the last one ends without.
  public func rendered() -> String {
    var text = ""
    if let position {
      text += "\(position.file):\(position.line):\(position.column): "
    }
    text += "\(severity.rawValue): \(message)"
    if let position, !sourceLine.isEmpty {
      let number = String(position.line)
      let padded = String(repeating: " ", count: max(0, 5 - number.utf8.count)) + number
      let gutter = String(repeating: " ", count: padded.utf8.count)
      text += "\n\(padded) | \(sourceLine)\n\(gutter) | \(underline(at: position.column))"
    }
    for note in notes {
      text += "\n" + note.rendered()
    }
    return text
  }

  /// Blanks up to the column, then `^~~~`. Tabs are repeated so that any tab width lines up, and a character of
  /// several bytes is one column wide.
  private func underline(at column: Int) -> String {
    var blanks = ""
    var marks = ""
    var offset = 1
    for scalar in sourceLine.unicodeScalars {
      if offset < column {
        blanks.unicodeScalars.append(scalar == "\t" ? "\t" : " ")
      } else if offset < column + length {
        marks += marks.isEmpty ? "^" : "~"
      } else {
        break
      }
      offset += UTF8.width(scalar)
    }
    return blanks + (marks.isEmpty ? "^" : marks)
  }
}
