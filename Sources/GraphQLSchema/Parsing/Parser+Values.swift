// Values, types, arguments and directives.

import Diagnostics

extension Parser {
  /// A value; without variables if it is constant.
  mutating func value(isConstant: Bool) throws(SyntaxError) -> ValueSyntax {
    let token = current
    switch token.kind {
    case .leftBracket: return try listValue(isConstant: isConstant)
    case .leftBrace: return try objectValue(isConstant: isConstant)
    case .integer:
      advance()
      return ValueSyntax(kind: .integer(text(token)), range: range(token))
    case .float:
      advance()
      return ValueSyntax(kind: .float(text(token)), range: range(token))
    case .string:
      advance()
      return ValueSyntax(kind: .string(token.string), range: range(token))
    case .name:
      advance()
      let word = text(token)
      let kind: ValueSyntax.Kind =
        switch word {
        case "true": .boolean(true)
        case "false": .boolean(false)
        case "null": .null
        default: .enumeration(word)
        }
      return ValueSyntax(kind: kind, range: range(token))
    case .dollar:
      if isConstant {
        throw unexpected("a constant value", hint: "a variable has no value here")
      }
      advance()
      let name = try name("the name of a variable")
      return ValueSyntax(kind: .variable(name.text), range: range(from: token.start))
    default:
      throw unexpected("a value")
    }
  }

  private mutating func listValue(isConstant: Bool) throws(SyntaxError) -> ValueSyntax {
    try descend()
    let start = current.start
    advance()
    var values: [ValueSyntax] = []
    while !take(.rightBracket) {
      if current.kind == .end { throw unexpected("']' behind the last element") }
      values.append(try value(isConstant: isConstant))
    }
    ascend()
    return ValueSyntax(kind: .list(values), range: range(from: start))
  }

  private mutating func objectValue(isConstant: Bool) throws(SyntaxError) -> ValueSyntax {
    try descend()
    let start = current.start
    advance()
    var fields: [ArgumentSyntax] = []
    while !take(.rightBrace) {
      let name = try name("the name of an input field, or '}'")
      try expect(.colon, "behind the name of an input field")
      fields.append(ArgumentSyntax(name: name, value: try value(isConstant: isConstant)))
    }
    ascend()
    return ValueSyntax(kind: .object(fields), range: range(from: start))
  }

  /// Arguments in parentheses, if there are any.
  mutating func arguments(isConstant: Bool) throws(SyntaxError) -> [ArgumentSyntax] {
    guard current.kind == .leftParenthesis else { return [] }
    advance()
    var result: [ArgumentSyntax] = []
    repeat {
      let name = try name("the name of an argument")
      try expect(.colon, "behind the name of an argument")
      result.append(ArgumentSyntax(name: name, value: try value(isConstant: isConstant)))
    } while !take(.rightParenthesis)
    return result
  }

  mutating func directives(isConstant: Bool) throws(SyntaxError) -> [DirectiveSyntax] {
    var result: [DirectiveSyntax] = []
    while current.kind == .at {
      let start = current.start
      advance()
      let name = try name("the name of a directive")
      let arguments = try arguments(isConstant: isConstant)
      result.append(
        DirectiveSyntax(name: name, arguments: arguments, range: range(from: start)))
    }
    return result
  }

  /// A type, such as `[T!]!`.
  mutating func type() throws(SyntaxError) -> TypeSyntax {
    let start = current.start
    let name: NameSyntax
    var reference: TypeReference
    if current.kind == .leftBracket {
      try descend()
      advance()
      let element = try type()
      try expect(.rightBracket, "behind the type of a list's elements")
      ascend()
      name = element.name
      reference = .list(element.reference)
    } else {
      name = try self.name("a type")
      reference = .named(name.text)
    }
    if take(.bang) { reference = .nonNull(reference) }
    return TypeSyntax(reference: reference, name: name, range: range(from: start))
  }
}
