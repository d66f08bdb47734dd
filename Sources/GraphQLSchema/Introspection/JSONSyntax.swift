// JSON with places, read with the lexer of GraphQL: its strings, numbers and words are the same.

import Diagnostics

/// A JSON value in a text.
struct JSONSyntax {
  enum Kind {
    case object([(key: String, value: JSONSyntax)])
    case array([JSONSyntax])
    case string(String)
    case number
    case boolean(Bool)
    case null
  }

  var kind: Kind
  var range: SourceRange

  /// The member called `key`; nil if it is missing or null.
  subscript(key: String) -> JSONSyntax? {
    guard case .object(let members) = kind else { return nil }
    for member in members where member.key == key {
      if case .null = member.value.kind { return nil }
      return member.value
    }
    return nil
  }

  var elements: [JSONSyntax]? { if case .array(let elements) = kind { elements } else { nil } }
  var string: String? { if case .string(let text) = kind { text } else { nil } }
  var isTrue: Bool { if case .boolean(true) = kind { true } else { false } }
  var isObject: Bool { if case .object = kind { true } else { false } }
}

extension Parser {
  /// The JSON value that a file consists of; nil after an error.
  static func parseJSON(_ file: SourceFile, sink: DiagnosticSink) -> JSONSyntax? {
    var parser = Parser(file: file, language: .json, sink: sink)
    guard let value = try? parser.json() else { return nil }
    guard parser.current.kind == .end else {
      _ = parser.unexpected("the end of the text")
      return nil
    }
    return sink.errorCount == 0 ? value : nil
  }

  private mutating func json() throws(SyntaxError) -> JSONSyntax {
    let token = current
    switch token.kind {
    case .leftBrace:
      let members = try elements(until: .rightBrace) {
        (parser: inout Parser) throws(SyntaxError) in try parser.member()
      }
      return JSONSyntax(kind: .object(members), range: range(from: token.start))
    case .leftBracket:
      let elements = try elements(until: .rightBracket) {
        (parser: inout Parser) throws(SyntaxError) in try parser.json()
      }
      return JSONSyntax(kind: .array(elements), range: range(from: token.start))
    case .string:
      advance()
      return JSONSyntax(kind: .string(token.string), range: range(token))
    case .integer, .float:
      advance()
      return JSONSyntax(kind: .number, range: range(token))
    case .name:
      let kind: JSONSyntax.Kind
      switch text(token) {
      case "true": kind = .boolean(true)
      case "false": kind = .boolean(false)
      case "null": kind = .null
      default: throw unexpected("a JSON value")
      }
      advance()
      return JSONSyntax(kind: kind, range: range(token))
    default: throw unexpected("a JSON value")
    }
  }

  private mutating func member() throws(SyntaxError) -> (key: String, value: JSONSyntax) {
    let key = try expect(.string, "as the key of a member").string
    try expect(.colon, "behind the key of a member")
    return (key, try json())
  }

  private mutating func elements<Element>(
    until close: Token.Kind, _ element: (inout Parser) throws(SyntaxError) -> Element
  ) throws(SyntaxError) -> [Element] {
    try descend()
    advance()
    var result: [Element] = []
    if current.kind != close {
      repeat { result.append(try element(&self)) } while take(.comma)
    }
    try expect(close, "or ','")
    ascend()
    return result
  }
}
