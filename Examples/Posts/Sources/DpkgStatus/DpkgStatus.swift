// The text format of dpkg's package database: stanzas of fields, with an empty line between stanzas.
//
//     Package: bash
//     Depends: base-files (>= 2.1.12), debianutils (>= 2.15)
//     Description: GNU Bourne Again SHell
//      Bash is a command language interpreter.
//      .
//      It is compatible with sh.
//
// A line that begins with a blank continues the field above it. Fields that nobody asks for are no error. What is wrong is
// told with the number of the line; a file is read as a whole or not at all.

/// One paragraph: a package, as text.
public struct Stanza: Equatable, Sendable {
  /// The text of a field, and where it begins.
  public struct Field: Equatable, Sendable {
    /// As the file spells it.
    public var name: String
    /// Without blanks at either end; lines are separated by newlines.
    public var value: String
    /// Where the field begins, from 1 up.
    public var line: Int
  }

  /// In the order of the file.
  public var fields: [Field] = []

  /// The line of its first field.
  public var line: Int { fields.first?.line ?? 0 }

  /// The field with a name, which is the same in capitals and small letters.
  public subscript(name: String) -> Field? {
    fields.first { $0.name.lowercased() == name.lowercased() }
  }
}

/// What is wrong with a file.
public struct DpkgStatusError: Error, Equatable, CustomStringConvertible {
  /// From 1 up.
  public let line: Int
  /// What was found, and what was expected.
  public let message: String

  /// What is wrong in a line.
  public init(line: Int, _ message: String) {
    self.line = line
    self.message = message
  }

  /// `line 12: …`
  public var description: String { "line \(line): \(message)" }
}

extension Stanza {
  /// Takes a file apart into its stanzas.
  public static func parse(_ bytes: some Collection<UInt8>) throws(DpkgStatusError) -> [Stanza] {
    var stanzas: [Stanza] = []
    var stanza = Stanza()
    var number = 0
    for bytes in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      guard let line = String(validating: bytes, as: UTF8.self) else {
        throw DpkgStatusError(line: number, "this is not UTF-8")
      }
      let isContinuation = line.first == " " || line.first == "\t"
      let text = line.trimmed
      if text.isEmpty {
        if !stanza.fields.isEmpty { stanzas.append(stanza) }
        stanza = Stanza()
      } else if isContinuation {
        guard !stanza.fields.isEmpty else {
          throw DpkgStatusError(line: number, "a line that begins with a blank continues nothing")
        }
        // A dot alone stands for an empty line.
        stanza.fields[stanza.fields.count - 1].value += "\n" + (text == "." ? "" : text)
      } else {
        try stanza.append(text, number)
      }
    }
    if !stanza.fields.isEmpty { stanzas.append(stanza) }
    return stanzas
  }

  private mutating func append(_ text: Substring, _ line: Int) throws(DpkgStatusError) {
    guard let colon = text.firstIndex(of: ":") else {
      throw DpkgStatusError(line: line, "'Field: value' is expected, not '\(text.prefix(40))'")
    }
    let name = String(text[..<colon])
    guard !name.isEmpty, !name.contains(where: \.isWhitespace) else {
      throw DpkgStatusError(line: line, "'\(name)' is not the name of a field")
    }
    if let earlier = self[name] {
      throw DpkgStatusError(line: line, "\(name) is given twice, first in line \(earlier.line)")
    }
    fields.append(
      Field(name: name, value: String(text[text.index(after: colon)...].trimmed), line: line))
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Without blanks at either end.
  var trimmed: Substring {
    guard let first = firstIndex(where: { !$0.isWhitespace }),
      let last = lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return self[first...last]
  }
}
