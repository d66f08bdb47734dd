// Turns bytes into tokens.
//
// The lexer accepts every sequence of bytes and always ends with one `.end` token. Bytes that form
// no token are reported once and skipped. A malformed number or string still yields a token, so
// that the parser does not report it again.

struct Lexer {
  private let file: SourceFile
  private let bytes: [UInt8]
  private let sink: DiagnosticSink
  private var offset = 0
  private var tokens: [Token] = []
  private var documentation: [String] = []
  /// Whether bytes that form no token were skipped just before.
  private var skippedGarbage = false
  /// Whether the line has no token yet: a documentation comment must come first in its line.
  private var sawLineBreak = true

  private init(file: SourceFile, sink: DiagnosticSink) {
    self.file = file
    self.bytes = file.bytes
    self.sink = sink
  }

  /// All tokens of `file`.
  static func tokens(of file: SourceFile, sink: DiagnosticSink) -> [Token] {
    var lexer = Lexer(file: file, sink: sink)
    lexer.run()
    return lexer.tokens
  }

  private mutating func run() {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { offset = 3 }
    while offset < bytes.count { step() }
    emit(.end, from: bytes.count, text: "")
  }

  private mutating func step() {
    let start = offset
    let byte = bytes[offset]
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
      sawLineBreak = true
      offset += 1
    case UInt8(ascii: " "), UInt8(ascii: "\t"):
      offset += 1
    case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "/"):
      lineComment()
    case UInt8(ascii: "/") where peek(1) == UInt8(ascii: "*"):
      blockComment()
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      string(quote: byte)
    case _ where isIdentifierStart(byte):
      offset += 1
      skipIdentifier()
      emit(.identifier, from: start)
    case _ where isDigit(byte) || (byte == UInt8(ascii: ".") && isDigit(peek(1))):
      number(from: start)
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      offset += 1
      if isDigit(peek(0)) || (peek(0) == UInt8(ascii: ".") && isDigit(peek(1))) {
        number(from: start)
      } else if isIdentifierStart(peek(0)) {
        skipIdentifier()
        emit(.signedWord, from: start)
      } else {
        report("expected a number right behind the sign", from: start)
        emit(.integer, from: start, text: "0", isBroken: true)
      }
    case _ where Self.punctuation.contains(byte):
      offset += 1
      emit(.punctuation(byte), from: start)
    default:
      illegal(from: start)
    }
  }

  private static let punctuation = Set("{}()[]:;,.=".utf8)

  // MARK: Scanning

  private func peek(_ distance: Int) -> UInt8 {
    offset + distance < bytes.count ? bytes[offset + distance] : 0
  }

  private func range(from start: Int) -> SourceRange {
    SourceRange(file: file, start: start, end: offset)
  }

  private func report(_ message: String, from start: Int, notes: [Diagnostic] = []) {
    sink.error(message, at: range(from: start), notes: notes)
  }

  private mutating func emit(
    _ kind: Token.Kind, from start: Int, text: String? = nil, isBroken: Bool = false
  ) {
    tokens.append(
      Token(
        kind: kind, range: range(from: start),
        text: text ?? String(decoding: bytes[start..<offset], as: UTF8.self),
        documentation: documentation, touchesParenthesis: peek(0) == UInt8(ascii: "("),
        isBroken: isBroken || skippedGarbage))
    skippedGarbage = false
    documentation = []
    sawLineBreak = false
  }

  private mutating func skipIdentifier() {
    while isIdentifierStart(peek(0)) || isDigit(peek(0)) { offset += 1 }
  }

  /// Skips a run of bytes that begin no token, and reports it once.
  private mutating func illegal(from start: Int) {
    let byte = bytes[offset]
    let what: String
    if byte == 0 {
      what = "NUL byte; a schema is a text file"
    } else if byte < 0x20 || byte == 0x7F {
      what = "control character"
    } else if byte < 0x80 {
      what = "'\(Character(Unicode.Scalar(byte)))'"
    } else {
      what = "character outside ASCII"
    }
    while offset < bytes.count, beginsNoToken(bytes[offset]) { offset += 1 }
    offset = max(offset, start + 1)
    let isHash = byte == UInt8(ascii: "#")
    let hints: [UInt8: String] = [
      UInt8(ascii: "#"): "a comment begins with '//'",
      UInt8(ascii: "?"):
        "a scalar or an enum that may be absent is written '= null'; strings, structs, tables and "
        + "unions may be absent already",
    ]
    report("unexpected \(what)", from: start, notes: hints[byte].map { [.hint($0)] } ?? [])
    // Text that looks like a comment does not need a second message.
    if isHash { skipLine() }
    skippedGarbage = true
  }

  private func beginsNoToken(_ byte: UInt8) -> Bool {
    if isIdentifierStart(byte) || isDigit(byte) || Self.punctuation.contains(byte) { return false }
    return !Set(" \t\r\n/\"'+-".utf8).contains(byte)
  }

  // MARK: Comments

  private static func endsLine(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }

  private mutating func skipLine() {
    while offset < bytes.count, !Self.endsLine(bytes[offset]) { offset += 1 }
  }

  private mutating func lineComment() {
    let start = offset
    let isDocumentation = peek(2) == UInt8(ascii: "/")
    skipLine()
    guard isDocumentation else { return }
    guard sawLineBreak else {
      sink.error(
        "a documentation comment stands on a line of its own",
        at: SourceRange(file: file, start: start, end: start + 3),
        notes: [.hint("put it above what it describes, or use '//'")])
      return
    }
    var text = bytes[(start + 3)..<offset]
    if text.first == UInt8(ascii: " ") { text.removeFirst() }
    documentation.append(String(decoding: text, as: UTF8.self))
  }

  private mutating func blockComment() {
    let start = offset
    offset += 2
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "*"), peek(1) == UInt8(ascii: "/") {
        offset += 2
        return
      }
      if Self.endsLine(bytes[offset]) { sawLineBreak = true }
      offset += 1
    }
    sink.error(
      "this comment does not end: expected '*/'",
      at: SourceRange(file: file, start: start, end: start + 2))
  }

  // MARK: Numbers

  private mutating func number(from start: Int) {
    let isHexadecimal = peek(0) == UInt8(ascii: "0") && (peek(1) | 0x20) == UInt8(ascii: "x")
    if isHexadecimal { offset += 2 }
    var digits = 0
    var points = 0
    while offset < bytes.count {
      if isHexadecimal ? isHexadecimalDigit(peek(0)) : isDigit(peek(0)) {
        digits += 1
      } else if peek(0) == UInt8(ascii: ".") {
        points += 1
      } else {
        break
      }
      offset += 1
    }
    var isBroken = digits == 0 || points > 1
    var hasExponent = false
    if (peek(0) | 0x20) == UInt8(ascii: isHexadecimal ? "p" : "e") {
      hasExponent = true
      offset += 1
      if peek(0) == UInt8(ascii: "+") || peek(0) == UInt8(ascii: "-") { offset += 1 }
      isBroken = isBroken || !isDigit(peek(0))
      while isDigit(peek(0)) { offset += 1 }
    }
    if isHexadecimal, points > 0, !hasExponent { isBroken = true }
    if isBroken {
      let text = String(decoding: bytes[start..<offset], as: UTF8.self)
      report("'\(text)' is not a number", from: start)
      emit(.integer, from: start, text: "0", isBroken: true)
    } else {
      emit(hasExponent || points > 0 ? .real : .integer, from: start)
    }
  }
}

extension Lexer {
  // MARK: Strings

  /// Reads a string constant; an unterminated one ends with its line.
  fileprivate mutating func string(quote: UInt8) {
    let start = offset
    let errorsBefore = sink.errorCount
    offset += 1
    var content: [UInt8] = []
    while true {
      guard offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") else {
        sink.error(
          "this string does not end in its line: expected \(Character(Unicode.Scalar(quote)))",
          at: SourceRange(file: file, start: start, end: start + 1))
        break
      }
      let byte = bytes[offset]
      if byte == quote {
        offset += 1
        break
      }
      if byte == UInt8(ascii: "\\") {
        escape(into: &content)
      } else {
        if byte < 0x20 {
          offset += 1
          report(
            "a control character in a string", from: offset - 1,
            notes: [.hint("write it as an escape, such as \\t or \\u0001")])
        } else {
          content.append(byte)
          offset += 1
        }
      }
    }
    if String(validating: content, as: UTF8.self) == nil {
      report("this string is not valid UTF-8", from: start)
    }
    emit(
      .string, from: start, text: String(decoding: content, as: UTF8.self),
      isBroken: sink.errorCount > errorsBefore)
  }

  private mutating func escape(into content: inout [UInt8]) {
    let start = offset
    let letter = peek(1)
    offset = min(offset + 2, bytes.count)
    switch letter {
    case UInt8(ascii: "n"): content.append(UInt8(ascii: "\n"))
    case UInt8(ascii: "t"): content.append(UInt8(ascii: "\t"))
    case UInt8(ascii: "r"): content.append(UInt8(ascii: "\r"))
    case UInt8(ascii: "b"): content.append(8)
    case UInt8(ascii: "f"): content.append(12)
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "/"):
      content.append(letter)
    case UInt8(ascii: "x"):
      if let value = hexadecimal(digits: 2, from: start) { content.append(UInt8(value)) }
    case UInt8(ascii: "u"):
      unicodeEscape(from: start, into: &content)
    default:
      // A line break ends the string and is not part of the escape.
      if letter == UInt8(ascii: "\n") { offset -= 1 }
      report(
        "unknown escape in a string", from: start,
        notes: [.hint("known are \\n \\t \\r \\b \\f \\\" \\' \\\\ \\/ \\xHH \\uHHHH")])
    }
  }

  private mutating func unicodeEscape(from start: Int, into content: inout [UInt8]) {
    guard var value = hexadecimal(digits: 4, from: start) else { return }
    if (0xD800..<0xDC00).contains(value), peek(0) == UInt8(ascii: "\\"),
      peek(1) == UInt8(ascii: "u")
    {
      offset += 2
      guard let low = hexadecimal(digits: 4, from: start) else { return }
      if (0xDC00..<0xE000).contains(low) {
        value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
      }
    }
    guard let scalar = Unicode.Scalar(value) else {
      report("an unpaired surrogate in a string", from: start)
      return
    }
    content.append(contentsOf: String(scalar).utf8)
  }

  private mutating func hexadecimal(digits: Int, from start: Int) -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<digits {
      guard let digit = hexadecimalValue(peek(0)) else {
        report("expected \(digits) hexadecimal digits behind the escape", from: start)
        return nil
      }
      value = value << 4 + digit
      offset += 1
    }
    return value
  }
}
