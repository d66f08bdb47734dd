// Strings: quoted ones with escapes, and block strings with their indentation rule.

import Diagnostics

extension Lexer {
  /// The string at the offset. One that does not end ends with its line, or with the text.
  mutating func string() -> Token {
    if peek(1) == UInt8(ascii: "\""), peek(2) == UInt8(ascii: "\""), language == .graphQL {
      return blockString()
    }
    let start = offset
    offset += 1
    var content: [UInt8] = []
    while true {
      let run = offset
      skipPlainText()
      // Most strings have no escapes.
      if run == start + 1, offset < count, bytes[offset] == 34 {
        offset += 1
        return Token(
          kind: .string, start: start, end: offset,
          string: String(decoding: bytes[run..<(offset - 1)], as: UTF8.self))
      }
      if offset > run { content.append(contentsOf: bytes[run..<offset]) }
      guard offset < count, bytes[offset] == 34 || bytes[offset] == 92 else {
        report(
          "this string does not end in its line", from: start, to: start + 1,
          hint: language == .graphQL ? "a string of several lines stands between \"\"\"" : nil)
        break
      }
      if bytes[offset] == 34 {
        offset += 1
        break
      }
      escape(into: &content)
    }
    return Token(
      kind: .string, start: start, end: offset, string: String(decoding: content, as: UTF8.self))
  }

  /// Skips to a quote, a backslash or the end of the line.
  private mutating func skipPlainText() {
    while offset < count {
      let byte = bytes[offset]
      if byte == 34 || byte == 92 || byte == 10 || byte == 13 { return }
      offset += 1
    }
  }

  private mutating func escape(into content: inout [UInt8]) {
    let start = offset
    let letter = peek(1)
    offset = min(offset + 2, count)
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(letter)
    case UInt8(ascii: "b"): content.append(8)
    case UInt8(ascii: "f"): content.append(12)
    case UInt8(ascii: "n"): content.append(10)
    case UInt8(ascii: "r"): content.append(13)
    case UInt8(ascii: "t"): content.append(9)
    case UInt8(ascii: "u"):
      guard let scalar = unicodeEscape() else {
        report(
          "this escape stands for no character", from: start, to: max(offset, start + 1),
          hint: "a character is \\u and four hexadecimal digits, or \\u{…}")
        return
      }
      content.append(contentsOf: String(scalar).utf8)
    default:
      // A line break ends the string and is not part of the escape.
      if letter == 10 || letter == 13 { offset -= 1 }
      report(
        "unknown escape in a string", from: start, to: max(offset, start + 1),
        hint: "known are \\n \\t \\r \\b \\f \\\" \\\\ \\/ \\uHHHH \\u{H…}")
    }
  }

  /// What stands behind `\u`; nil if it is no Unicode scalar value.
  private mutating func unicodeEscape() -> Unicode.Scalar? {
    if peek() == UInt8(ascii: "{"), language == .graphQL {
      offset += 1
      var value: UInt32 = 0
      var digits = 0
      while let digit = hexadecimalValue(peek()) {
        value = min(value << 4 | digit, 0x11_0000)
        digits += 1
        offset += 1
      }
      guard peek() == UInt8(ascii: "}"), digits > 0 else { return nil }
      offset += 1
      return Unicode.Scalar(value)
    }
    guard let first = fourDigits() else { return nil }
    guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
    guard peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") else { return nil }
    offset += 2
    guard let second = fourDigits(), (0xDC00..<0xE000).contains(second) else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private mutating func fourDigits() -> UInt32? {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = hexadecimalValue(peek()) else { return nil }
      value = value << 4 | digit
      offset += 1
    }
    return value
  }

  // MARK: Block strings

  private mutating func blockString() -> Token {
    let start = offset
    offset += 3
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    reading: while true {
      let run = offset
      skipPlainText()
      if offset > run { line.append(contentsOf: bytes[run..<offset]) }
      guard offset < count else {
        report("this block string does not end", from: start, to: start + 3)
        break
      }
      let isQuote = bytes[offset] == 34
      switch bytes[offset] {
      case 34 where peek(1) == 34 && peek(2) == 34:
        offset += 3
        break reading
      case 92 where peek(1) == 34 && peek(2) == 34 && peek(3) == 34:
        line.append(contentsOf: [34, 34, 34])
        offset += 4
      case 34, 92:
        line.append(isQuote ? 34 : 92)
        offset += 1
      default:
        offset += bytes[offset] == 13 && peek(1) == 10 ? 2 : 1
        lines.append(line)
        line = []
      }
    }
    lines.append(line)
    let content = Self.withoutCommonIndentation(lines)
    return Token(
      kind: .string, start: start, end: offset, string: String(decoding: content, as: UTF8.self))
  }

  /// The lines without the indentation that all but the first have, and without blank lines at
  /// the beginning and the end.
  private static func withoutCommonIndentation(_ lines: [[UInt8]]) -> [UInt8] {
    var common = Int.max
    var first: Int?
    var last = 0
    for (index, line) in lines.enumerated() {
      guard let indentation = line.firstIndex(where: { $0 != 32 && $0 != 9 }) else { continue }
      first = first ?? index
      last = index
      if index > 0 { common = min(common, indentation) }
    }
    guard let first else { return [] }
    var result: [UInt8] = []
    for index in first...last {
      if index > first { result.append(10) }
      let line = lines[index]
      result.append(contentsOf: index == 0 ? line[...] : line.dropFirst(min(common, line.count)))
    }
    return result
  }
}
