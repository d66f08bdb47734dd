// Turns tokens into a syntax tree, by recursive descent with one token of lookahead.
//
// A syntax error ends the definition that it is in; the parser goes on at the next line that begins
// with a definition's keyword, so one run finds errors in several definitions. Nesting is limited,
// so no input overflows the stack, neither here nor in what walks the tree later.

import Diagnostics

/// A syntax error; the sink knows it already.
struct SyntaxError: Error {}

// Methods that only read are `mutating`, too, if every token needs them: without optimisation, the
// others work on a copy of the parser.

struct Parser {
  /// Caps nesting of braces and brackets. A thread's stack of 512 KB is enough for this depth in
  /// every walk over the tree, unoptimised.
  static let depthLimit = 100

  let file: SourceFile
  let sink: DiagnosticSink
  private var lexer: Lexer
  var current: Token
  /// The end of the token before the current one.
  private var previousEnd = 0
  private var depth = 0

  init(file: SourceFile, language: Lexer.Language = .graphQL, sink: DiagnosticSink) {
    self.file = file
    self.sink = sink
    lexer = Lexer(file: file, language: language, sink: sink)
    current = lexer.next()
  }

  /// The document in a file. With errors in the sink, some of its definitions are missing.
  static func parse(_ file: SourceFile, sink: DiagnosticSink) -> DocumentSyntax {
    var parser = Parser(file: file, sink: sink)
    return parser.document()
  }

  private mutating func document() -> DocumentSyntax {
    var result = DocumentSyntax(file: file, definitions: [])
    while current.kind != .end {
      do {
        depth = 0
        result.definitions.append(try definition())
      } catch {
        recover()
      }
    }
    return result
  }

  /// Skips to the next line that begins with a definition.
  private mutating func recover() {
    repeat { advance() } while current.kind != .end && !beginsDefinition()
  }

  private mutating func beginsDefinition() -> Bool {
    guard current.start == 0 || file.bytes[current.start - 1] == 10 else { return false }
    return current.kind == .leftBrace
      || current.kind == .name && Self.keywords.contains(text(current))
  }

  static let keywords: Set<String> = [
    "query", "mutation", "subscription", "fragment", "extend", "schema", "scalar", "type",
    "interface", "union", "enum", "input", "directive",
  ]

  // MARK: Tokens

  var currentRange: SourceRange {
    SourceRange(file: file, start: current.start, end: current.end)
  }

  mutating func range(_ token: Token) -> SourceRange {
    SourceRange(file: file, start: token.start, end: token.end)
  }

  /// From an offset to the end of what was read last.
  mutating func range(from start: Int) -> SourceRange {
    SourceRange(file: file, start: start, end: max(start, previousEnd))
  }

  mutating func text(_ token: Token) -> String {
    String(decoding: file.bytes[token.start..<token.end], as: UTF8.self)
  }

  mutating func advance() {
    previousEnd = current.end
    current = lexer.next()
  }

  mutating func take(_ kind: Token.Kind) -> Bool {
    guard current.kind == kind else { return false }
    advance()
    return true
  }

  mutating func isWord(_ word: String) -> Bool {
    current.kind == .name && text(current) == word
  }

  mutating func takeWord(_ word: String) -> Bool {
    guard isWord(word) else { return false }
    advance()
    return true
  }

  @discardableResult
  mutating func expect(_ kind: Token.Kind, _ place: String) throws(SyntaxError) -> Token {
    let token = current
    guard token.kind == kind else { throw unexpected("\(kind.described) \(place)") }
    advance()
    return token
  }

  mutating func name(_ place: String) throws(SyntaxError) -> NameSyntax {
    let token = current
    guard token.kind == .name else { throw unexpected(place) }
    advance()
    return NameSyntax(text: text(token), range: range(token))
  }

  /// Reports that something else was expected.
  mutating func unexpected(_ expected: String, hint: String? = nil) -> SyntaxError {
    let found: String
    switch current.kind {
    case .end, .string: found = current.kind.described
    default: found = "'\(text(current))'"
    }
    sink.error(
      "expected \(expected), found \(found)", at: currentRange,
      notes: hint.map { [.hint($0)] } ?? [])
    return SyntaxError()
  }

  /// Called before something nested is read; `depth` is decreased behind it.
  mutating func descend() throws(SyntaxError) {
    depth += 1
    guard depth <= Self.depthLimit else {
      sink.error(
        "this is nested more than \(Self.depthLimit) levels deep", at: currentRange,
        notes: [.hint("operations can move inner levels into fragments or variables")])
      // What follows is of the same kind: nothing more can be said about it.
      lexer.offset = lexer.count
      advance()
      throw SyntaxError()
    }
  }

  mutating func ascend() { depth -= 1 }

  /// Reads elements up to a closing token; at least one if `description` names them.
  mutating func list<Element>(
    until close: Token.Kind, of what: String,
    _ element: (inout Parser) throws(SyntaxError) -> Element
  ) throws(SyntaxError) -> [Element] {
    advance()
    var result: [Element] = []
    if current.kind == close { throw unexpected("at least one \(what)") }
    while current.kind != close {
      if current.kind == .end { throw unexpected("\(close.described) behind the last \(what)") }
      result.append(try element(&self))
    }
    advance()
    return result
  }

  /// Reads one JSON or GraphQL value as a whole text.
  mutating func wholeValue() -> ValueSyntax? {
    guard let value = try? value(isConstant: true) else { return nil }
    if current.kind != .end {
      _ = unexpected("the end of the text")
      return nil
    }
    return value
  }
}
