// SwiftDeclarations: finds the types that a Swift file declares, as far as namespaces need them.
//
// This is not a parser: it skips comments and literals, and tracks braces. Types at file scope, in
// other types and in extensions count; types inside functions do not. Both branches of an `#if`
// count.

/// The types that a Swift file declares.
struct SwiftDeclarations {
  /// Their names, each with the names of the enclosing types.
  private(set) var types: Set<[String]> = []

  init(in text: String) {
    var reader = Reader(bytes: Array(text.utf8))
    // What the next brace opens: nil for anything but a type or extension.
    var opening: [String]?
    var scopes: [[String]?] = []
    var previous = ""
    while let token = reader.next() {
      defer { previous = token }
      switch token {
      case "{":
        scopes.append(opening ?? nil)
        opening = nil
      case "}": _ = scopes.popLast()
      case "enum", "struct", "class", "actor", "protocol", "typealias", "extension":
        // A `class` function, `.enum`, or a label.
        guard previous != ".", let name = reader.name() else { continue }
        // Inside a function or accessor.
        guard scopes.allSatisfy({ $0 != nil }) else { continue }
        let path = (scopes.last ?? []) ?? []
        if token == "extension" {
          opening = path + name
        } else {
          types.insert(path + [name[0]])
          if token != "typealias" { opening = path + [name[0]] }
        }
      default: break
      }
    }
  }
}

/// The words and braces of Swift text.
private struct Reader {
  let bytes: [UInt8]
  private var index = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// The next word, brace or full stop; nil at the end. Other characters are skipped.
  mutating func next() -> String? {
    while index < bytes.count {
      let byte = bytes[index]
      if isWord(byte) || byte == UInt8(ascii: "`") { return word() }
      if skipCommentOrText() { continue }
      index += 1
      if [UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ".")].contains(byte) {
        return String(decoding: [byte], as: UTF8.self)
      }
    }
    return nil
  }

  /// A following name such as `A.B`; nil, with nothing consumed, if something else follows.
  mutating func name() -> [String]? {
    let start = index
    var path: [String] = []
    repeat {
      while index < bytes.count {
        if isSpace(bytes[index]) {
          index += 1
        } else if !skipCommentOrText() {
          break
        }
      }
      guard index < bytes.count, isWord(bytes[index]) || bytes[index] == UInt8(ascii: "`") else {
        index = start
        return nil
      }
      path.append(word())
      // `class func` and `class var` do not declare types.
      if ["func", "var", "let", "subscript", "init"].contains(path[0]) {
        index = start
        return nil
      }
      guard index < bytes.count, bytes[index] == UInt8(ascii: ".") else { return path }
      index += 1
    } while true
  }

  private mutating func word() -> String {
    if bytes[index] == UInt8(ascii: "`") {
      let end = bytes[(index + 1)...].firstIndex(of: UInt8(ascii: "`")) ?? bytes.count
      defer { index = min(end + 1, bytes.count) }
      return String(decoding: bytes[(index + 1)..<end], as: UTF8.self)
    }
    let start = index
    while index < bytes.count, isWord(bytes[index]) { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  /// Skips a comment or string literal; false if there is none.
  private mutating func skipCommentOrText() -> Bool {
    if has("//") {
      while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
      return true
    }
    if has("/*") {
      var depth = 0
      repeat {
        if has("/*") {
          depth += 1
          index += 2
        } else if has("*/") {
          depth -= 1
          index += 2
        } else {
          index += 1
        }
      } while depth > 0 && index < bytes.count
      return true
    }
    return skipText()
  }

  private mutating func skipText() -> Bool {
    let start = index
    while index < bytes.count, bytes[index] == UInt8(ascii: "#") { index += 1 }
    let pounds = String(repeating: "#", count: index - start)
    guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else {
      index = start
      return false
    }
    let quotes = has("\"\"\"") ? "\"\"\"" : "\""
    let escape = "\\" + pounds
    index += quotes.utf8.count
    while index < bytes.count, !has(quotes + pounds) {
      if has(escape + "(") {
        index += escape.utf8.count + 1
        skipInterpolation()
      } else if has(escape) {
        index += escape.utf8.count + 1
      } else if quotes == "\"", bytes[index] == UInt8(ascii: "\n") {
        return true
      } else {
        index += 1
      }
    }
    index = min(index + quotes.utf8.count + pounds.utf8.count, bytes.count)
    return true
  }

  /// Skips past the parenthesis that closes an interpolation.
  private mutating func skipInterpolation() {
    var depth = 1
    while depth > 0, index < bytes.count {
      if skipCommentOrText() { continue }
      if bytes[index] == UInt8(ascii: "(") { depth += 1 }
      if bytes[index] == UInt8(ascii: ")") { depth -= 1 }
      index += 1
    }
  }

  private func has(_ text: String) -> Bool { bytes[index...].starts(with: text.utf8) }

  private func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
