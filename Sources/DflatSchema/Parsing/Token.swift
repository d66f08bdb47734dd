// The tokens of the schema language.
//
// Keywords are ordinary identifiers: the language allows a field called `table`, so only the parser
// knows where a word is a keyword.

/// One token of a schema.
struct Token {
  enum Kind: Equatable {
    case identifier
    /// A word with a sign before it, `-inf`; only useful as a value.
    case signedWord
    case string
    /// Decimal or hexadecimal digits, perhaps with a sign.
    case integer
    /// A number with a point or an exponent, perhaps with a sign.
    case real
    case punctuation(UInt8)
    case end
  }

  var kind: Kind
  var range: SourceRange
  /// The identifier or number as written; a string's content with its escapes resolved.
  var text: String
  /// The lines of the `///` comments above the token, without the slashes and one leading space.
  var documentation: [String] = []
  /// Whether an opening parenthesis follows without a space: `sin(1)` is a call, `sin (key)` a word
  /// and attributes.
  var touchesParenthesis = false
  /// Whether it was already reported; then errors after it are not reported.
  var isBroken = false

  func isPunctuation(_ character: Unicode.Scalar) -> Bool {
    kind == .punctuation(UInt8(ascii: character))
  }

  func isWord(_ word: String) -> Bool { kind == .identifier && text == word }

  /// The token, worded for a message: `';'`, `identifier 'Post'`, `the end of the file`.
  var described: String {
    switch kind {
    case .identifier, .signedWord: "'\(text)'"
    case .string: "a string"
    case .integer, .real: "the number \(text)"
    case .punctuation(let character): "'\(Character(Unicode.Scalar(character)))'"
    case .end: "the end of the file"
    }
  }
}
