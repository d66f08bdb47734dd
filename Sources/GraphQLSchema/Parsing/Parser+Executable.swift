// Operations, fragments and selections.

import Diagnostics

extension Parser {
  mutating func definition() throws(SyntaxError) -> DefinitionSyntax {
    if current.kind == .leftBrace { return .operation(try operation()) }
    let description = description()
    guard current.kind == .name else { throw unexpected("a definition") }
    let word = text(current)
    if let description, word == "extend" {
      sink.error(
        "an extension has no description", at: description.range,
        notes: [.hint("write a comment, which begins with '#'")])
      throw SyntaxError()
    }
    switch word {
    case "query", "mutation", "subscription": return .operation(try operation())
    case "fragment": return .fragment(try fragment())
    default: return try typeSystemDefinition(description)
    }
  }

  private mutating func operation() throws(SyntaxError) -> OperationSyntax {
    let start = current
    var kind = OperationKind.query
    var operationName: NameSyntax?
    var variables: [VariableSyntax] = []
    var directives: [DirectiveSyntax] = []
    if current.kind == .name {
      kind = OperationKind(rawValue: text(current)) ?? .query
      advance()
      if current.kind == .name { operationName = try name("a name") }
      if current.kind == .leftParenthesis {
        variables = try list(until: .rightParenthesis, of: "variable") {
          (parser: inout Parser) throws(SyntaxError) in try parser.variable()
        }
      }
      directives = try self.directives(isConstant: false)
    }
    let selectionSet = try selectionSet("of the operation")
    return OperationSyntax(
      kind: kind, name: operationName, variables: variables, directives: directives,
      selectionSet: selectionSet, keywordRange: range(start), range: range(from: start.start))
  }

  private mutating func variable() throws(SyntaxError) -> VariableSyntax {
    _ = description()
    let start = current.start
    try expect(.dollar, "before the name of a variable")
    let word = try name("the name of a variable")
    let name = NameSyntax(text: word.text, range: range(from: start))
    try expect(.colon, "behind the name of a variable")
    let type = try type()
    let defaultValue = take(.equals) ? try value(isConstant: true) : nil
    let directives = try directives(isConstant: true)
    return VariableSyntax(
      name: name, type: type, defaultValue: defaultValue, directives: directives,
      range: range(from: start))
  }

  private mutating func fragment() throws(SyntaxError) -> FragmentSyntax {
    let start = current.start
    advance()
    if isWord("on") {
      throw unexpected("the name of a fragment", hint: "a fragment cannot be called 'on'")
    }
    let name = try name("the name of a fragment")
    guard takeWord("on") else { throw unexpected("'on' and a type") }
    let typeCondition = try self.name("the type of the fragment")
    let directives = try directives(isConstant: false)
    let selectionSet = try selectionSet("of the fragment")
    return FragmentSyntax(
      name: name, typeCondition: typeCondition, directives: directives,
      selectionSet: selectionSet, range: range(from: start))
  }

  private mutating func selectionSet(_ place: String) throws(SyntaxError) -> SelectionSetSyntax {
    guard current.kind == .leftBrace else { throw unexpected("'{' and the selections \(place)") }
    try descend()
    let start = current.start
    advance()
    if current.kind == .rightBrace {
      throw unexpected("at least one selection", hint: "select '__typename' if nothing is needed")
    }
    var selections: [SelectionSyntax] = []
    while !take(.rightBrace) {
      if current.kind == .spread {
        selections.append(try spread())
      } else {
        selections.append(.field(try field()))
      }
    }
    ascend()
    return SelectionSetSyntax(selections: selections, range: range(from: start))
  }

  private mutating func field() throws(SyntaxError) -> FieldSyntax {
    let start = current.start
    var name = try name("a field, '...' or '}'")
    var alias: NameSyntax?
    if take(.colon) {
      alias = name
      name = try self.name("the name of the field behind its alias")
    }
    let arguments = try arguments(isConstant: false)
    let directives = try directives(isConstant: false)
    let selectionSet = current.kind == .leftBrace ? try selectionSet("of the field") : nil
    return FieldSyntax(
      alias: alias, name: name, arguments: arguments, directives: directives,
      selectionSet: selectionSet, range: range(from: start))
  }

  private mutating func spread() throws(SyntaxError) -> SelectionSyntax {
    let start = current.start
    advance()
    let hasCondition = takeWord("on")
    if !hasCondition, current.kind == .name {
      let name = try name("the name of a fragment")
      let directives = try directives(isConstant: false)
      return .fragmentSpread(
        FragmentSpreadSyntax(name: name, directives: directives, range: range(from: start)))
    }
    let condition = hasCondition ? try name("a type behind 'on'") : nil
    let directives = try directives(isConstant: false)
    let selectionSet = try selectionSet("of the fragment")
    return .inlineFragment(
      InlineFragmentSyntax(
        typeCondition: condition, directives: directives, selectionSet: selectionSet,
        range: range(from: start)))
  }
}
