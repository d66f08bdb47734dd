// Searches in the language of FTS5, SQLite's full-text index; see
// https://sqlite.org/fts5.html#full_text_query_syntax.
//
//   query    or
//   or       and { "OR" and }
//   and      not { "AND" not }
//   not      item { "NOT" item }
//   item     [ fields ":" ] "(" query ")"  |  near { near }
//   near     [ fields ":" ] ( [ "^" ] phrase  |  "NEAR" "(" phrase { phrase } [ "," number ] ")" )
//   phrase   string { "+" string } [ "*" ]
//   fields   [ "-" ] ( string  |  "{" { string } "}" )
//   string   a word of letters, digits, "_" and all that is not ASCII, or text in quotation marks
//
// Fields have the schema's names: `title`, `"author.name"`.

extension SearchSyntax {
  /// Parses a search.
  /// - Throws: `SearchSyntaxError`.
  init(fts5 text: String) throws(SearchSyntaxError) {
    var parser = try Parser(text)
    self = try parser.query(depth: 0)
    if let token = parser.token {
      throw parser.error(
        token.kind == .symbol(")") ? "there is a ')' too many" : "an operator is missing before it")
    }
  }

  private struct Token {
    enum Kind: Equatable {
      /// A word, perhaps a keyword.
      case word(String)
      /// A text in quotation marks.
      case string(String)
      case symbol(Unicode.Scalar)
    }

    var kind: Kind
    var position: Int

    /// The text, if a phrase or the name of a field may consist of it.
    var text: String? {
      switch kind {
      case .word(let text) where !["AND", "OR", "NOT"].contains(text): text
      case .string(let text): text
      default: nil
      }
    }
  }

  private struct Parser {
    /// The deepest nesting of parentheses. It keeps hostile searches from overflowing the stack.
    private static let maximumDepth = 50

    private let search: String
    private let tokens: [Token]
    private let end: Int
    private var next = 0

    init(_ search: String) throws(SearchSyntaxError) {
      self.search = search
      let scalars = Array(search.unicodeScalars)
      end = scalars.count
      var tokens: [Token] = []
      var position = 0
      while position < scalars.count {
        let start = position
        let scalar = scalars[position]
        if [" ", "\t", "\n", "\r"].contains(scalar) {
          position += 1
        } else if scalar == "\"" {
          let text = Self.string(scalars, &position)
          guard let text else {
            throw SearchSyntaxError(
              message: "the quotation mark at the end is missing", search: search, position: start)
          }
          tokens.append(Token(kind: .string(text), position: start))
        } else if scalar.isInBareword {
          while position < scalars.count, scalars[position].isInBareword { position += 1 }
          var text = String.UnicodeScalarView()
          text.append(contentsOf: scalars[start..<position])
          tokens.append(Token(kind: .word(String(text)), position: start))
        } else if "(){}:+*,^-".unicodeScalars.contains(scalar) {
          tokens.append(Token(kind: .symbol(scalar), position: start))
          position += 1
        } else {
          throw SearchSyntaxError(
            message: "'\(scalar)' has no meaning here; put it in quotation marks",
            search: search, position: start)
        }
      }
      self.tokens = tokens
    }

    /// A text in quotation marks, which are doubled inside of it; nil if it does not end.
    private static func string(_ scalars: [Unicode.Scalar], _ position: inout Int) -> String? {
      var text = String.UnicodeScalarView()
      position += 1
      while position < scalars.count {
        if scalars[position] == "\"" {
          position += 1
          if position == scalars.count || scalars[position] != "\"" { return String(text) }
        }
        // SQLite ends a search at a NUL.
        text.append(scalars[position].value == 0 ? " " : scalars[position])
        position += 1
      }
      return nil
    }

    // MARK: Tokens

    var token: Token? { next < tokens.count ? tokens[next] : nil }

    func error(_ message: String, at position: Int? = nil) -> SearchSyntaxError {
      SearchSyntaxError(
        message: message, search: search, position: position ?? token?.position ?? end)
    }

    private func isNext(_ kind: Token.Kind, after count: Int = 0) -> Bool {
      next + count < tokens.count && tokens[next + count].kind == kind
    }

    private mutating func take(_ kind: Token.Kind) -> Bool {
      guard isNext(kind) else { return false }
      next += 1
      return true
    }

    private mutating func require(_ symbol: Unicode.Scalar) throws(SearchSyntaxError) {
      if !take(.symbol(symbol)) { throw error("a '\(symbol)' is missing") }
    }

    // MARK: Operators

    mutating func query(depth: Int) throws(SearchSyntaxError) -> SearchSyntax {
      if depth > Self.maximumDepth { throw error("the parentheses are nested too deeply") }
      var parts = [try conjunction(depth)]
      while take(.word("OR")) { parts.append(try conjunction(depth)) }
      return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction(_ depth: Int) throws(SearchSyntaxError) -> SearchSyntax {
      var parts = [try exclusion(depth)]
      while take(.word("AND")) { parts.append(try exclusion(depth)) }
      return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func exclusion(_ depth: Int) throws(SearchSyntaxError) -> SearchSyntax {
      let result = try item(depth)
      var unwanted: [SearchSyntax] = []
      while take(.word("NOT")) { unwanted.append(try item(depth)) }
      return unwanted.isEmpty ? result : .not(result, .or(unwanted))
    }

    private mutating func item(_ depth: Int) throws(SearchSyntaxError) -> SearchSyntax {
      var parts: [SearchSyntax] = []
      while true {
        let start = next
        let fields = try self.fields()
        if isNext(.symbol("(")) {
          // FTS5 has no AND by itself beside parentheses.
          if !parts.isEmpty {
            next = start
            throw error("an operator is missing before it: AND, OR or NOT")
          }
          next += 1
          let inner = try query(depth: depth + 1)
          try require(")")
          if token?.text != nil { throw error("an operator is missing before it: AND, OR or NOT") }
          return within(fields, inner)
        }
        parts.append(within(fields, try near()))
        guard let token, token.text != nil || beginsItem(token) else { break }
      }
      return parts.count == 1 ? parts[0] : .words(parts)
    }

    private func beginsItem(_ token: Token) -> Bool {
      [.symbol("^"), .symbol("{"), .symbol("-"), .symbol("(")].contains(token.kind)
    }

    private typealias Fields = (names: [FieldName], isExcluding: Bool)

    private func within(_ fields: Fields?, _ inner: SearchSyntax) -> SearchSyntax {
      fields.map { .fields($0.names, isExcluding: $0.isExcluding, inner) } ?? inner
    }

    /// The names of fields with the colon behind them; nil if there are none.
    private mutating func fields() throws(SearchSyntaxError) -> Fields? {
      let isExcluding = take(.symbol("-"))
      var names: [FieldName] = []
      if take(.symbol("{")) {
        while let token, let text = token.text {
          names.append(FieldName(name: text, position: token.position))
          next += 1
        }
        if names.isEmpty { throw error("the name of a field is missing") }
        try require("}")
      } else if let token, let text = token.text, isExcluding || isNext(.symbol(":"), after: 1) {
        names.append(FieldName(name: text, position: token.position))
        next += 1
      } else if isExcluding {
        throw error("the name of a field is missing behind '-'; 'a NOT b' leaves out b")
      } else {
        return nil
      }
      try require(":")
      return (names, isExcluding)
    }

    // MARK: Phrases

    private mutating func near() throws(SearchSyntaxError) -> SearchSyntax {
      if take(.symbol("^")) {
        var phrase = try self.phrase()
        phrase.isInitial = true
        return .phrase(phrase)
      }
      guard isNext(.word("NEAR")), isNext(.symbol("("), after: 1) else {
        return .phrase(try phrase())
      }
      next += 2
      var phrases = [try phrase()]
      while token?.text != nil { phrases.append(try phrase()) }
      var distance = 10
      if take(.symbol(",")) {
        guard case .word(let text)? = token?.kind, let number = Int(text), 0...1_000_000 ~= number
        else { throw error("a number of words is missing") }
        distance = number
        next += 1
      }
      try require(")")
      return .phrases(phrases, distance: distance)
    }

    private mutating func phrase() throws(SearchSyntaxError) -> Phrase {
      var texts: [String] = []
      repeat {
        guard let text = token?.text else {
          throw error(
            token == nil && next == 0 ? "the search is empty" : "a word or phrase is missing")
        }
        texts.append(text)
        next += 1
      } while take(.symbol("+"))
      let isPrefix = take(.symbol("*"))
      if isNext(.symbol("+")) { throw error("'*' stands at the end of a phrase") }
      return Phrase(texts: texts, isPrefix: isPrefix)
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isInBareword: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_": true
    default: value >= 0x80
    }
  }
}
