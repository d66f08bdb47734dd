// The words and signs of a query's text.
//
// Any bytes are allowed: what is no word or sign is an error with its place.

/// A word, sign or constant of a query's text.
struct QueryToken {
  enum Kind: Hashable {
    case word(String)
    /// A word in back-ticks, which is no keyword and no value of an enum.
    case quotedWord(String)
    /// `$0`: the element of a vector.
    case variable(Int)
    case number(String)
    case text(String)
    case sign(String)
    case end
  }

  let kind: Kind
  let range: Range<Int>
}

/// Divides a text into tokens.
struct QueryLexer {
  private let text: String
  private let bytes: [UInt8]
  private var place = 0

  private init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  /// All tokens, and the end.
  static func tokens(of text: String) throws(QueryTextError) -> [QueryToken] {
    var lexer = QueryLexer(text)
    var tokens: [QueryToken] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private func error(
    _ message: String, _ range: Range<Int>, hint: String? = nil
  ) -> QueryTextError {
    QueryTextError(message: message, hint: hint, text: text, range: range)
  }

  private func peek(_ distance: Int = 0) -> UInt8? {
    place + distance < bytes.count ? bytes[place + distance] : nil
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte >= 0x80 || isDigit(byte)
      || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z"))
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }

  private func string(_ range: Range<Int>) -> String {
    String(decoding: bytes[range], as: UTF8.self)
  }

  private mutating func next() throws(QueryTextError) -> QueryToken {
    while let byte = peek(), byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) { place += 1 }
    let start = place
    guard let byte = peek() else { return QueryToken(kind: .end, range: start..<start) }
    let kind: QueryToken.Kind
    switch byte {
    case UInt8(ascii: "'"): kind = .text(try quotedText())
    case UInt8(ascii: "\""): kind = .text(try escapedText())
    case UInt8(ascii: "`"): kind = .quotedWord(try quotedWord())
    case UInt8(ascii: "$"): kind = try variable()
    case _ where Self.isDigit(byte): kind = .number(number())
    case _ where Self.isWord(byte):
      while let byte = peek(), Self.isWord(byte) { place += 1 }
      kind = .word(string(start..<place))
    default: kind = .sign(try sign())
    }
    return QueryToken(kind: kind, range: start..<place)
  }

  private mutating func sign() throws(QueryTextError) -> String {
    let start = place
    let two = place + 1 < bytes.count ? string(place..<place + 2) : ""
    if ["==", "!=", "<>", "<=", ">=", "&&", "||"].contains(two) {
      place += 2
      return two
    }
    let one = string(place..<place + 1)
    guard "()[]{},.:=<>+-*/%!".contains(one) else {
      throw error("'\(one)' has no meaning here", start..<start + 1)
    }
    place += 1
    return one
  }

  private mutating func variable() throws(QueryTextError) -> QueryToken.Kind {
    let start = place
    place += 1
    while let byte = peek(), Self.isDigit(byte) { place += 1 }
    guard let number = Int(string(start + 1..<place)) else {
      throw error(
        "a variable has a number", start..<place, hint: "$0 is the element of the vector")
    }
    return .variable(number)
  }

  private mutating func number() -> String {
    let start = place
    func takeDigits() {
      while let byte = peek(), Self.isDigit(byte) || byte == UInt8(ascii: "_") { place += 1 }
    }
    takeDigits()
    if peek() == UInt8(ascii: "."), let byte = peek(1), Self.isDigit(byte) {
      place += 1
      takeDigits()
    }
    if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
      let sign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-")
      if let digit = peek(sign ? 2 : 1), Self.isDigit(digit) {
        place += sign ? 2 : 1
        takeDigits()
      }
    }
    return string(start..<place).filter { $0 != "_" }
  }

  /// A text in single quotation marks, as in SQL: two of them stand for one.
  private mutating func quotedText() throws(QueryTextError) -> String {
    let start = place
    place += 1
    var result: [UInt8] = []
    while let byte = peek() {
      place += 1
      if byte == UInt8(ascii: "'") {
        guard peek() == byte else { return String(decoding: result, as: UTF8.self) }
        place += 1
      }
      result.append(byte)
    }
    throw error("the text has no end", start..<place, hint: "add a '")
  }

  /// A text in double quotation marks, as in Swift.
  private mutating func escapedText() throws(QueryTextError) -> String {
    let start = place
    place += 1
    var result: [UInt8] = []
    while let byte = peek() {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
      case UInt8(ascii: "\\"): result += try escape()
      default: result.append(byte)
      }
    }
    throw error("the text has no end", start..<place, hint: "add a \"")
  }

  private mutating func escape() throws(QueryTextError) -> [UInt8] {
    let start = place - 1
    let byte = peek()
    place += byte == nil ? 0 : 1
    switch byte {
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "0"): return [0]
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): return [byte ?? 0]
    case UInt8(ascii: "u") where peek() == UInt8(ascii: "{"):
      let end = bytes[place...].firstIndex(of: UInt8(ascii: "}")) ?? bytes.count
      let digits = string(place + 1..<max(end, place + 1))
      if end < bytes.count, digits.count <= 8, let value = UInt32(digits, radix: 16),
        let scalar = Unicode.Scalar(value)
      {
        place = end + 1
        return Array(String(Character(scalar)).utf8)
      }
    default: break
    }
    throw error(
      "there is no such escape", start..<place,
      hint: "\\n, \\r, \\t, \\0, \\\\, \\\", \\' and \\u{1F600} are known")
  }

  private mutating func quotedWord() throws(QueryTextError) -> String {
    let start = place
    guard let end = bytes[(place + 1)...].firstIndex(of: UInt8(ascii: "`")), end > start + 1 else {
      throw error("the name has no end", start..<bytes.count, hint: "add a `")
    }
    place = end + 1
    return string(start + 1..<end)
  }
}
