// StoredCode: the types in a frozen shape, as Swift spells them.
//
// A property's type may be another name of a plain type, as `typealias` and `User.ID` are. The
// macro cannot know that. But the frozen shape can have the type itself in the place of the name:
// then the compiler checks that they are the same type.

internal import SwiftSyntax

/// A type in an entry of a shape, with what stands before it: nothing, or a label.
struct ShapePart {
  var label = ""
  let type: TypeSyntax
}

/// Reads the types in the code of an entry.
private struct StoredCodeReader {
  private var rest: Substring
  /// The names that may occur, beside the letters of plain types.
  private let names: Set<String>

  init(_ code: String, _ names: Set<String>) {
    rest = code[...]
    self.names = names
  }

  var isAtEnd: Bool { rest.isEmpty }

  /// Skips a text, if it comes next.
  mutating func skip(_ text: String) -> Bool {
    guard rest.hasPrefix(text) else { return false }
    rest = rest.dropFirst(text.count)
    return true
  }

  /// The next type, with its code; nil if none comes.
  mutating func next() -> (type: String, code: Substring)? {
    let start = rest
    guard var type = base() else { return nil }
    while skip("?") { type += "?" }
    return (type, start[..<rest.startIndex])
  }

  private mutating func base() -> String? {
    if skip("[") {
      guard let element = next()?.type else { return nil }
      guard skip(":") else { return skip("]") ? "[\(element)]" : nil }
      guard let value = next()?.type, skip("]") else { return nil }
      return "[\(element): \(value)]"
    }
    if skip("{") {
      guard let element = next()?.type, skip("}") else { return nil }
      return "Set<\(element)>"
    }
    let name = String(rest.prefix { !"[]{}(),:?@".contains($0) })
    rest = rest.dropFirst(name.count)
    return TypeSyntax.plainType(of: name) ?? (names.contains(name) ? name : nil)
  }
}

extension ShapeEntry {
  /// What a frozen entry stores in the places of this one's types, where it has another type there:
  /// one that this entry's names may stand for. nil if the entries differ otherwise.
  func aliased(in stored: ShapeEntry) -> [String?]? {
    var reader = StoredCodeReader(stored.code, Set(parts.flatMap(\.type.named).map(\.ownName)))
    if isCase, !reader.skip("(") { return nil }
    var found: [String?] = []
    for part in parts {
      if !found.isEmpty, !reader.skip(",") { return nil }
      guard reader.skip(part.label), let (type, code) = reader.next() else { return nil }
      if code == part.type.code {
        found.append(nil)
      } else {
        if part.type.isKnown { return nil }
        found.append(type)
      }
    }
    if isCase, !reader.skip(")") { return nil }
    return reader.isAtEnd ? found : nil
  }
}
