// The grammar of queries as text.
//
//   query       type [ "where" condition ] [ "order" "by" key { "," key } ]
//               [ "limit" n ] [ "offset" n ]
//   key         sum [ "asc" | "desc" ]
//   condition   both { ( "or" | "||" ) both }
//   both        negation { ( "and" | "&&" ) negation }
//   negation    "not" negation | comparison
//   comparison  sum [ sign sum | "is" [ "not" ] member | [ "not" ] "in" list
//                   | [ "not" ] "between" sum "and" sum
//                   | [ "not" ] "like" sum [ "escape" text ] ]
//   sum         product { ( "+" | "-" ) product }
//   product     prefix { ( "*" | "/" | "%" ) prefix }
//   prefix      ( "-" | "!" ) prefix | postfix
//   postfix     primary { "." name [ arguments | "{" condition "}" ] }
//
// Keywords are written in any case. A name in back-ticks is never a keyword.

import Diagnostics

/// Parses the text of a query or of an expression.
struct QueryParser {
  /// How deeply parentheses and signs may be nested. In a debug build a level takes 17 KiB of the
  /// stack, which may have 512.
  private static let depthLimit = 20

  private let text: String
  private let tokens: [QueryToken]
  private var place = 0
  private var depth = 0

  private init(_ text: String) throws(QueryTextError) {
    self.text = text
    tokens = try QueryLexer.tokens(of: text)
  }

  /// The syntax of a whole query.
  static func query(_ text: String) throws(QueryTextError) -> QuerySyntax {
    var parser = try QueryParser(text)
    return try parser.query()
  }

  /// The syntax of expressions between commas: the fields of a selection.
  static func expressions(_ text: String) throws(QueryTextError) -> [ExpressionSyntax] {
    var parser = try QueryParser(text)
    var list = [try parser.condition()]
    while parser.takeSign(",") { list.append(try parser.condition()) }
    try parser.expectEnd("',' or the end")
    return list
  }

  // MARK: Tokens

  private var current: QueryToken { tokens[place] }
  private var lastEnd: Int { place > 0 ? tokens[place - 1].range.upperBound : 0 }

  private func error(
    _ message: String, _ range: Range<Int>? = nil, hint: String? = nil
  ) -> QueryTextError {
    QueryTextError(message: message, hint: hint, text: text, range: range ?? current.range)
  }

  private func isWord(_ word: String, _ distance: Int = 0) -> Bool {
    guard place + distance < tokens.count, case .word(let text) = tokens[place + distance].kind
    else { return false }
    return text.lowercased() == word
  }

  private mutating func takeWord(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    place += 1
    return true
  }

  private mutating func takeSign(_ sign: String) -> Bool {
    guard current.kind == .sign(sign) else { return false }
    place += 1
    return true
  }

  private mutating func takeSign(of signs: [String]) -> String? {
    guard case .sign(let sign) = current.kind, signs.contains(sign) else { return nil }
    place += 1
    return sign
  }

  private mutating func expect(_ sign: String, _ purpose: String) throws(QueryTextError) {
    if takeSign(sign) { return }
    throw error("'\(sign)' is missing \(purpose)")
  }

  private func expectEnd(_ wanted: String) throws(QueryTextError) {
    guard current.kind == .end else {
      throw error("\(wanted) is expected here", hint: misspelled)
    }
  }

  /// What the current word could be meant to be.
  private var misspelled: String? {
    guard case .word(let word) = current.kind else { return nil }
    return suggestion(
      for: word, among: ["where", "order", "limit", "offset", "and", "or", "in", "is", "like"])
  }

  /// Enters a level of nesting. The caller leaves it by `depth -= 1`.
  private mutating func descend() throws(QueryTextError) {
    if depth >= Self.depthLimit { throw error("the query is nested too deeply here") }
    depth += 1
  }

  // MARK: Queries

  private mutating func query() throws(QueryTextError) -> QuerySyntax {
    let start = current.range.lowerBound
    var name = try self.name("the name of a type")
    while takeSign(".") { name += "." + (try self.name("the rest of the type's name")) }
    var query = QuerySyntax(type: name, typeRange: start..<lastEnd)
    if takeWord("where") { query.condition = try condition() }
    if isWord("order"), isWord("by", 1) {
      place += 2
      repeat {
        let key = try sum()
        let isDescending = takeWord("desc") || takeWord("descending")
        if !isDescending, !takeWord("asc") { _ = takeWord("ascending") }
        query.order.append((key, isDescending))
      } while takeSign(",")
    }
    if takeWord("limit") { query.limit = try count("limit") }
    if takeWord("offset") { query.offset = try count("offset") }
    try expectEnd("'where', 'order by', 'limit', 'offset' or the end")
    return query
  }

  private mutating func count(_ what: String) throws(QueryTextError) -> Int {
    guard case .number(let text) = current.kind, let number = Int(text) else {
      throw error("the \(what) is a whole number")
    }
    place += 1
    return number
  }

  private mutating func name(_ wanted: String) throws(QueryTextError) -> String {
    switch current.kind {
    case .word(let word), .quotedWord(let word):
      place += 1
      return word
    default: throw error("\(wanted) is missing")
    }
  }

  // MARK: Expressions

  // Functions call each other directly, since each closure on the way would take stack at each
  // level.

  private mutating func condition() throws(QueryTextError) -> ExpressionSyntax {
    try descend()
    defer { depth -= 1 }
    return try connective(isAnd: false)
  }

  private mutating func connective(isAnd: Bool) throws(QueryTextError) -> ExpressionSyntax {
    let start = current.range.lowerBound
    var parts: [ExpressionSyntax] = []
    repeat {
      parts.append(isAnd ? try negation() : try connective(isAnd: true))
    } while takeWord(isAnd ? "and" : "or") || takeSign(isAnd ? "&&" : "||")
    if parts.count == 1 { return parts[0] }
    return ExpressionSyntax(kind: .connective(isAnd: isAnd, parts), range: start..<lastEnd)
  }

  private mutating func negation() throws(QueryTextError) -> ExpressionSyntax {
    let start = current.range.lowerBound
    guard takeWord("not") else { return try comparison() }
    try descend()
    defer { depth -= 1 }
    return ExpressionSyntax(kind: .not(try negation()), range: start..<lastEnd)
  }

  private mutating func comparison() throws(QueryTextError) -> ExpressionSyntax {
    let left = try sum()
    func made(_ kind: ExpressionSyntax.Kind) -> ExpressionSyntax {
      ExpressionSyntax(kind: kind, range: left.range.lowerBound..<lastEnd)
    }
    if let sign = takeSign(of: ["==", "=", "!=", "<>", "<=", ">=", "<", ">"]) {
      let right = try sum()
      if let second = takeSign(of: ["==", "=", "!=", "<>", "<=", ">=", "<", ">"]) {
        place -= 1
        throw error(
          "comparisons cannot be chained with '\(second)'", hint: "write 'a < b and b < c'")
      }
      return made(.binary(sign, left, right))
    }
    if takeWord("is") {
      let isNegated = takeWord("not")
      return made(.type(left, try postfix(), isNegated: isNegated))
    }
    let isNegated =
      isWord("not") && (isWord("in", 1) || isWord("between", 1) || isWord("like", 1))
    if isNegated { place += 1 }
    if takeWord("in") { return made(.membership(left, try list(), isNegated: isNegated)) }
    if takeWord("like") {
      let pattern = try sum()
      let escape = takeWord("escape") ? try primary() : nil
      return made(.like(left, pattern, escape: escape, isNegated: isNegated))
    }
    if takeWord("between") {
      let low = try sum()
      guard takeWord("and") else { throw error("'and' is missing behind the lower bound") }
      return made(.between(left, low, try sum(), isNegated: isNegated))
    }
    return left
  }

  /// `(a, b)`, `[a, b]`, or the name of a vector.
  private mutating func list() throws(QueryTextError) -> ExpressionSyntax {
    let start = current.range.lowerBound
    guard let open = takeSign(of: ["(", "["]) else { return try postfix() }
    let elements = try elements(until: open == "(" ? ")" : "]")
    return ExpressionSyntax(kind: .list(elements), range: start..<lastEnd)
  }

  private mutating func elements(
    until close: String
  ) throws(QueryTextError) -> [ExpressionSyntax] {
    var list: [ExpressionSyntax] = []
    if takeSign(close) { return list }
    repeat {
      // `like("100!%", escape: "!")`.
      if isWord("escape"), tokens[place + 1].kind == .sign(":") { place += 2 }
      list.append(try condition())
    } while takeSign(",")
    try expect(close, "behind the last of these")
    return list
  }

  private mutating func sum() throws(QueryTextError) -> ExpressionSyntax {
    try operators(isProduct: false)
  }

  /// Left-associative operators. Their number is limited like the depth, which they are.
  private mutating func operators(isProduct: Bool) throws(QueryTextError) -> ExpressionSyntax {
    var left = isProduct ? try prefix() : try operators(isProduct: true)
    var count = 0
    while let sign = takeSign(of: isProduct ? ["*", "/", "%"] : ["+", "-"]) {
      count += 1
      if count > Self.depthLimit { throw error("there are too many operators in a row") }
      let right = isProduct ? try prefix() : try operators(isProduct: true)
      left = ExpressionSyntax(
        kind: .binary(sign, left, right), range: left.range.lowerBound..<lastEnd)
    }
    return left
  }

  private mutating func prefix() throws(QueryTextError) -> ExpressionSyntax {
    let start = current.range.lowerBound
    guard let sign = takeSign(of: ["-", "!"]) else { return try postfix() }
    try descend()
    defer { depth -= 1 }
    let operand = try prefix()
    return ExpressionSyntax(
      kind: sign == "-" ? .negative(operand) : .not(operand), range: start..<lastEnd)
  }

  private mutating func postfix() throws(QueryTextError) -> ExpressionSyntax {
    var value = try primary()
    var count = 0
    while takeSign(".") {
      count += 1
      if count > Self.depthLimit { throw error("there are too many names in a row") }
      let range = current.range
      let name = try self.name("a name")
      let kind: ExpressionSyntax.Kind
      if takeSign("(") {
        kind = .call(value, name, try elements(until: ")"), range)
      } else if name == "any" || name == "all", takeSign("{") {
        let condition = try condition()
        try expect("}", "behind the condition")
        kind = .quantified(value, isAll: name == "all", condition)
      } else {
        kind = .member(value, name, range)
      }
      value = ExpressionSyntax(kind: kind, range: value.range.lowerBound..<lastEnd)
    }
    return value
  }

  private mutating func primary() throws(QueryTextError) -> ExpressionSyntax {
    let range = current.range
    let kind: ExpressionSyntax.Kind
    switch current.kind {
    case .number(let text): kind = .number(text)
    case .text(let text): kind = .text(text)
    case .variable(let number): kind = .variable(number)
    case .quotedWord(let word): kind = .name(word, isQuoted: true)
    case .word(let word):
      place += 1
      if takeSign("(") {
        let arguments = try elements(until: ")")
        return ExpressionSyntax(
          kind: .call(nil, word, arguments, range), range: range.lowerBound..<lastEnd)
      }
      return ExpressionSyntax(kind: .name(word, isQuoted: false), range: range)
    case .sign("("):
      place += 1
      let inner = try condition()
      try expect(")", "behind this")
      return ExpressionSyntax(kind: inner.kind, range: range.lowerBound..<lastEnd)
    case .sign("["):
      place += 1
      let elements = try elements(until: "]")
      return ExpressionSyntax(kind: .list(elements), range: range.lowerBound..<lastEnd)
    case .sign(let sign): throw error("a field or a value is expected before '\(sign)'")
    case .end: throw error("a field or a value is missing at the end")
    }
    place += 1
    return ExpressionSyntax(kind: kind, range: range)
  }
}

/// `did you mean 'where'?`, for a word that is nearly one of some others.
func suggestion(for word: String, among words: some Sequence<String>) -> String? {
  nearest(to: word, among: words).map { "did you mean '\($0)'?" }
}
