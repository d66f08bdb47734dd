// What the lexer yields.

/// One token; its text is found by its offsets.
struct Token {
  enum Kind: UInt8 {
    case end, name, integer, float, string
    case bang, dollar, ampersand, leftParenthesis, rightParenthesis, spread, colon, equals, at
    case leftBracket, rightBracket, leftBrace, rightBrace, pipe
    /// Between elements; a token only in JSON.
    case comma
  }

  var kind: Kind
  /// Offsets of the first byte and behind the last.
  var start: Int
  var end: Int
  /// The value of a string.
  var string = ""
}

extension Token.Kind {
  /// As messages name what was expected.
  var described: String {
    switch self {
    case .end: "the end of the text"
    case .name: "a name"
    case .integer: "an integer"
    case .float: "a number"
    case .string: "a string"
    case .bang: "'!'"
    case .dollar: "'$'"
    case .ampersand: "'&'"
    case .leftParenthesis: "'('"
    case .rightParenthesis: "')'"
    case .spread: "'...'"
    case .colon: "':'"
    case .equals: "'='"
    case .at: "'@'"
    case .leftBracket: "'['"
    case .rightBracket: "']'"
    case .leftBrace: "'{'"
    case .rightBrace: "'}'"
    case .pipe: "'|'"
    case .comma: "','"
    }
  }
}
