// The compilers' messages about their inputs, as data and as text.
//
// A diagnostic contains everything that its text needs, including the source line, so it can be
// shown after the sources are gone. Its position is where the user has to look, not where the
// compiler noticed the problem.

/// One error, warning or note, with its position in the source.
public struct Diagnostic: Sendable {
  /// The severity of a diagnostic. A compilation with an error produces no schema.
  public enum Severity: String, Sendable {
    case error, warning, note
  }

  /// The severity.
  public var severity: Severity
  /// What is wrong and what was expected, in one line without a full stop.
  public var message: String
  /// The position; nil only for notes without a particular position.
  public var position: SourcePosition?
  /// The number of bytes to underline, at least 1.
  public var length: Int
  /// The source line that contains `position`, without its line break; empty if there is none to
  /// show.
  public var sourceLine: String
  /// Notes that help to understand or fix the problem.
  public var notes: [Diagnostic]
  /// The name of the rule that is broken, where a specification names its rules.
  public var rule: String?

  /// Creates a diagnostic from its parts.
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

  /// The diagnostic in the usual form of compilers: `file:line:column: error: message`, the source
  /// line with the position underlined, then the notes in the same form. Lines are separated by
  /// line feeds; the last one ends without.
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

  /// Spaces up to the column, then `^~~~`. Tabs are repeated so that any tab width lines up, and a
  /// multi-byte character is one column wide.
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
