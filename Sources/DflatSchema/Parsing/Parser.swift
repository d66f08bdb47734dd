// Parses a file, and recovers from errors.
//
// After an error the parser continues after the next `;`, before the next `}`, or at the next
// declaration, whichever comes first, so one mistake costs one field or one declaration. Every loop
// consumes a token or ends, and the only recursion (types, function calls in defaults) is bounded.
// So any input is parsed in linear time and with bounded stack.

/// Thrown when the current construct cannot be continued; the error was already reported.
struct SyntaxError: Error {}

struct Parser {
  let sink: DiagnosticSink
  private let tokens: [Token]
  private var index = 0
  private var result = FileSyntax()

  private init(file: SourceFile, sink: DiagnosticSink) {
    self.sink = sink
    tokens = Lexer.tokens(of: file, sink: sink)
  }

  /// Parses the content of `file`.
  static func parse(_ file: SourceFile, sink: DiagnosticSink) -> FileSyntax {
    var parser = Parser(file: file, sink: sink)
    parser.parseFile()
    return parser.result
  }

  // MARK: Tokens

  var current: Token { tokens[index] }
  var next: Token { tokens[min(index + 1, tokens.count - 1)] }
  /// The token before the current one; the current one at the beginning.
  var previous: Token { tokens[max(index - 1, 0)] }

  mutating func advance() {
    if index + 1 < tokens.count { index += 1 }
  }

  /// Consumes the punctuation if it comes next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard current.isPunctuation(character) else { return false }
    advance()
    return true
  }

  mutating func expect(_ character: Unicode.Scalar, _ context: String) throws(SyntaxError) {
    guard take(character) else { throw unexpected("expected '\(character)' \(context)") }
  }

  mutating func expectName(_ what: String) throws(SyntaxError) -> NameSyntax {
    guard current.kind == .identifier else { throw unexpected("expected \(what)") }
    defer { advance() }
    return NameSyntax(text: current.text, range: current.range)
  }

  mutating func expectString(_ what: String) throws(SyntaxError) -> LiteralSyntax {
    guard current.kind == .string else { throw unexpected("expected \(what) in quotes") }
    defer { advance() }
    return LiteralSyntax(text: current.text, range: current.range)
  }

  /// Consumes the `;` that ends a statement. If it is missing, the error points behind the
  /// statement, and parsing continues as if it were there when the next token begins a line.
  mutating func expectSemicolon(_ context: String) throws(SyntaxError) {
    if take(";") { return }
    let error = unexpectedBehindPrevious("expected ';' \(context)")
    guard isAtLineStart || current.isPunctuation("}") else { throw error }
  }

  /// Whether the current token is the first of its line.
  var isAtLineStart: Bool {
    let file = current.range.file
    return file.lineIndex(at: previous.range.end) < file.lineIndex(at: current.range.start)
  }

  /// Reports that the current token is unexpected.
  func unexpected(_ expectation: String) -> SyntaxError {
    if !previous.isBroken && !current.isBroken {
      sink.error("\(expectation), found \(current.described)", at: current.range)
    }
    return SyntaxError()
  }

  /// Reports that something is missing after the previous token.
  func unexpectedBehindPrevious(_ expectation: String) -> SyntaxError {
    if !previous.isBroken {
      sink.error("\(expectation), found \(current.described)", at: previous.range.justBehind)
    }
    return SyntaxError()
  }

  // MARK: The file

  private static let declarationWords: Set<String> = [
    "namespace", "table", "struct", "enum", "union", "root_type", "file_identifier",
    "file_extension", "include", "native_include", "attribute", "rpc_service",
  ]

  /// Whether a declaration begins here. Inside a body the same words are field names, but then a
  /// colon follows.
  var isAtDeclaration: Bool {
    guard current.kind == .identifier, Self.declarationWords.contains(current.text) else {
      return false
    }
    return next.kind == .identifier || next.kind == .string
      || (current.text == "namespace" && next.isPunctuation(";"))
  }

  private mutating func parseFile() {
    if current.kind == .end {
      if sink.errorCount == 0 {
        sink.error("the file declares nothing", at: current.range)
      }
      return
    }
    while current.kind != .end {
      let start = index
      do throws(SyntaxError) {
        try parseDeclaration()
      } catch {
        result.isIncomplete = true
        skipToNextDeclaration()
      }
      if index == start { advance() }
    }
  }

  /// Skips the rest of a malformed statement, with its body if it has one.
  private mutating func skipToNextDeclaration() {
    var depth = 0
    while current.kind != .end {
      if isAtDeclaration, isAtLineStart || depth == 0 { return }
      if current.isPunctuation("{") {
        depth += 1
      } else if current.isPunctuation("}") {
        depth -= 1
        if depth <= 0 {
          advance()
          _ = take(";")
          return
        }
      } else if current.isPunctuation(";"), depth == 0 {
        advance()
        return
      }
      advance()
    }
  }

  /// Skips the rest of a malformed field or member: up to and including the separator, or to the
  /// end of the body.
  mutating func skipInBody(separator: Unicode.Scalar) {
    var depth = 0
    while current.kind != .end, !isAtDeclaration {
      if current.isPunctuation("{") {
        depth += 1
      } else if current.isPunctuation("}") {
        if depth == 0 { return }
        depth -= 1
      } else if depth == 0, take(separator) {
        return
      }
      advance()
    }
  }

  /// Whether the body continues; reports an error if the file ends without `}`.
  mutating func bodyContinues(of name: NameSyntax) -> Bool {
    if take("}") { return false }
    if current.kind == .end || isAtDeclaration {
      sink.error(
        "expected '}' at the end of '\(name.text)', found \(current.described)",
        at: current.range,
        notes: [name.range.note("'\(name.text)' begins here")])
      return false
    }
    return true
  }

  private mutating func parseDeclaration() throws(SyntaxError) {
    let documentation = current.documentation
    guard current.kind == .identifier else {
      throw unexpectedDeclaration()
    }
    let word = current
    switch word.text {
    case "include", "native_include":
      try parseInclude()
    case "namespace":
      advance()
      try parseNamespace()
    case "table", "struct":
      advance()
      try parseRecord(isStruct: word.text == "struct", documentation)
    case "enum":
      advance()
      try parseEnum(documentation)
    case "union":
      advance()
      try parseUnion(documentation)
    case "rpc_service":
      advance()
      try parseService()
    case "root_type":
      advance()
      let path = try parsePath("the name of a table")
      append(.rootType(path))
      try expectSemicolon("after the root type")
    case "file_identifier":
      advance()
      append(.fileIdentifier(try expectString("the file identifier")))
      try expectSemicolon("after the file identifier")
    case "file_extension":
      advance()
      append(.fileExtension(try expectString("the file extension")))
      try expectSemicolon("after the file extension")
    case "attribute":
      advance()
      let isName = current.kind == .identifier
      let name = isName ? try expectName("a name").text : try expectString("a name").text
      append(.attribute(name))
      try expectSemicolon("after the attribute")
    default:
      throw unexpectedDeclaration()
    }
  }

  mutating func append(_ declaration: DeclarationSyntax) { result.declarations.append(declaration) }

  private mutating func unexpectedDeclaration() -> SyntaxError {
    if current.isPunctuation("{") {
      sink.error(
        "a data object cannot stand in a schema", at: current.range,
        notes: [.hint("only declarations are compiled; keep JSON in files of its own")])
      return SyntaxError()
    }
    var notes: [Diagnostic] = []
    if previous.isPunctuation("}"), current.isPunctuation(";") {
      notes.append(.hint("no ';' follows a '}'"))
    }
    sink.error(
      "expected a declaration (table, struct, enum, union, namespace, root_type, …), found "
        + current.described, at: current.range, notes: notes)
    return SyntaxError()
  }

  private mutating func parseInclude() throws(SyntaxError) {
    let word = current
    advance()
    let isNative = word.text == "native_include"
    let path = try expectString(isNative ? "the name of a header" : "the path of a schema")
    if !result.declarations.isEmpty {
      sink.error("'\(word.text)' must come before all declarations", at: word.range)
    } else if !isNative {
      result.includes.append(path)
    }
    try expectSemicolon("after '\(word.text)'")
  }

  private mutating func parseNamespace() throws(SyntaxError) {
    var parts: [String] = []
    if !current.isPunctuation(";") {
      repeat {
        parts.append(try expectName("the name of a namespace").text)
      } while take(".")
    }
    append(.namespace(parts))
    try expectSemicolon("after the namespace")
  }
}
