// Turns bytes into tokens, one at a time.
//
// Any sequence of bytes is accepted and ends with `.end`. Bytes that form no token are reported and
// skipped; a broken number or string still yields a token. JSON differs in three points: commas are
// tokens, and there are neither comments nor block strings.
//
// This code is built without optimisation, so the loops that see every byte read a table of
// character classes and call nothing.

import Diagnostics

struct Lexer {
  enum Language { case graphQL, json }

  let file: SourceFile
  let sink: DiagnosticSink
  let language: Language
  let bytes: [UInt8]
  let count: Int
  var offset = 0
  private let classes = CharacterClasses.table
  private let punctuation = Self.punctuation

  init(file: SourceFile, language: Language = .graphQL, sink: DiagnosticSink) {
    self.file = file
    self.sink = sink
    self.language = language
    bytes = file.bytes
    count = bytes.count
    checkEncoding()
  }

  /// Text that is not UTF-8 is reported once; strings replace the broken bytes.
  private func checkEncoding() {
    guard String(validating: bytes, as: UTF8.self) == nil else { return }
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var good = 0
    decoding: while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): good += UTF8.width(scalar)
      case .emptyInput: return
      case .error: break decoding
      }
    }
    report("this is not valid UTF-8", from: good, to: good + 1)
  }

  func range(from start: Int, to end: Int) -> SourceRange {
    SourceRange(file: file, start: start, end: min(end, count))
  }

  func report(_ message: String, from start: Int, to end: Int, hint: String? = nil) {
    sink.error(message, at: range(from: start, to: end), notes: hint.map { [.hint($0)] } ?? [])
  }

  /// The byte at a distance; 0 behind the end.
  mutating func peek(_ distance: Int = 0) -> UInt8 {
    offset + distance < count ? bytes[offset + distance] : 0
  }

  /// The next token.
  mutating func next() -> Token {
    while offset < count {
      let start = offset
      let byte = bytes[offset]
      switch classes[Int(byte)] {
      case CharacterClasses.blank:
        // Indentation is most of a server's answer.
        repeat { offset += 1 } while offset < count && bytes[offset] == 32
      case CharacterClasses.nameStart:
        skipName()
        return Token(kind: .name, start: start, end: offset)
      case CharacterClasses.digit:
        return number()
      default:
        if let token = other(byte, start) { return token }
      }
    }
    return Token(kind: .end, start: count, end: count)
  }

  private mutating func skipName() {
    offset += 1
    while offset < count, classes[Int(bytes[offset])] & CharacterClasses.nameBit != 0 {
      offset += 1
    }
  }

  /// Everything but names, numbers without a sign, and blanks; nil if it is to be ignored.
  private mutating func other(_ byte: UInt8, _ start: Int) -> Token? {
    switch byte {
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "-"): return number()
    case UInt8(ascii: ","):
      offset += 1
      return language == .json ? Token(kind: .comma, start: start, end: offset) : nil
    case UInt8(ascii: "#") where language == .graphQL:
      skipComment()
      return nil
    case 0xEF where peek(1) == 0xBB && peek(2) == 0xBF:
      offset += 3  // A byte order mark.
      return nil
    case UInt8(ascii: "."):
      if peek(1) == byte, peek(2) == byte {
        offset += 3
        return Token(kind: .spread, start: start, end: offset)
      }
    default:
      if let kind = punctuation[Int(byte)] {
        offset += 1
        return Token(kind: kind, start: start, end: offset)
      }
    }
    illegal(byte, start)
    return nil
  }

  private static let punctuation: [Token.Kind?] = {
    var table = [Token.Kind?](repeating: nil, count: 256)
    for (byte, kind) in marks { table[Int(byte)] = kind }
    return table
  }()

  private static let marks: [UInt8: Token.Kind] = [
    UInt8(ascii: "!"): .bang, UInt8(ascii: "$"): .dollar, UInt8(ascii: "&"): .ampersand,
    UInt8(ascii: "("): .leftParenthesis, UInt8(ascii: ")"): .rightParenthesis,
    UInt8(ascii: ":"): .colon, UInt8(ascii: "="): .equals, UInt8(ascii: "@"): .at,
    UInt8(ascii: "["): .leftBracket, UInt8(ascii: "]"): .rightBracket,
    UInt8(ascii: "{"): .leftBrace, UInt8(ascii: "}"): .rightBrace, UInt8(ascii: "|"): .pipe,
  ]

  private mutating func skipComment() {
    while offset < count, bytes[offset] != 10, bytes[offset] != 13 { offset += 1 }
  }

  /// Skips one character that begins no token, and further ones of its kind, and reports them.
  private mutating func illegal(_ byte: UInt8, _ start: Int) {
    var hint: String?
    let what: String
    switch byte {
    case 0..<0x20, 0x7F: what = "control character"
    case 0x80...: what = "character outside of a string"
    case UInt8(ascii: "'"):
      what = "character '"
      hint = "strings stand between double quotes"
    case UInt8(ascii: "."):
      what = "'.'"
      if isDigit(peek(1)) {
        hint = "a number has a digit before its point"
      } else {
        hint = "a fragment is spread by three points"
      }
    case UInt8(ascii: "/") where peek(1) == byte:
      what = "'/'"
      hint = "a comment begins with '#'"
    default: what = "'\(Character(Unicode.Scalar(byte)))'"
    }
    offset += 1
    if byte >= 0x80 || byte == UInt8(ascii: ".") {
      while offset < count, byte >= 0x80 ? bytes[offset] >= 0x80 : bytes[offset] == byte {
        offset += 1
      }
    }
    report("unexpected \(what)", from: start, to: offset, hint: hint)
  }

  // MARK: Numbers

  private mutating func skipDigits() {
    while offset < count, classes[Int(bytes[offset])] == CharacterClasses.digit { offset += 1 }
  }

  private mutating func number() -> Token {
    let start = offset
    var fault: String?
    if bytes[offset] == UInt8(ascii: "-") { offset += 1 }
    let first = offset
    skipDigits()
    if offset == first {
      fault = "expected a digit behind '-'"
    } else if offset > first + 1, bytes[first] == UInt8(ascii: "0") {
      fault = "a number does not begin with 0"
    }
    var kind = Token.Kind.integer
    if peek() == UInt8(ascii: "."), fault == nil {
      kind = .float
      offset += 1
      let fraction = offset
      skipDigits()
      if offset == fraction { fault = "expected a digit behind the point" }
    }
    if peek() | 0x20 == UInt8(ascii: "e"), fault == nil {
      kind = .float
      offset += 1
      if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { offset += 1 }
      let exponent = offset
      skipDigits()
      if offset == exponent { fault = "expected a digit in the exponent" }
    }
    if fault == nil, peek() == UInt8(ascii: ".") || isIdentifierStart(peek()) {
      fault = "a number is followed by something that is not a name or a point"
      while isIdentifierStart(peek()) || isDigit(peek()) || peek() == UInt8(ascii: ".") {
        offset += 1
      }
    }
    if let fault { report(fault, from: start, to: max(offset, start + 1)) }
    return Token(kind: kind, start: start, end: offset)
  }
}

/// What each byte can be.
private enum CharacterClasses {
  static let blank: UInt8 = 1
  /// A letter or `_`.
  static let nameStart: UInt8 = 6
  static let digit: UInt8 = 4
  /// Set in everything that continues a name.
  static let nameBit: UInt8 = 4

  static let table: [UInt8] = (0...255).map { byte in
    switch UInt8(byte) {
    case 9, 10, 13, 32: blank
    case let letter where isIdentifierStart(letter): nameStart
    case let number where isDigit(number): digit
    default: 0
    }
  }
}
