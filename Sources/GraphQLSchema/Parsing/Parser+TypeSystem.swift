// Definitions and extensions of a type system.

import Diagnostics

extension Parser {
  /// The string before a definition, if there is one.
  mutating func description() -> DescriptionSyntax? {
    let token = current
    guard token.kind == .string else { return nil }
    advance()
    return DescriptionSyntax(text: token.string, range: range(token))
  }

  mutating func typeSystemDefinition(_ description: DescriptionSyntax?) throws(SyntaxError)
    -> DefinitionSyntax
  {
    let isExtension = takeWord("extend")
    let keyword = current
    guard keyword.kind == .name else { throw unexpected("the definition that is extended") }
    let word = text(keyword)
    switch word {
    case "schema": return .schema(try schemaDefinition(description, isExtension))
    case "directive" where !isExtension: return .directive(try directiveDefinition(description))
    default: break
    }
    guard let kind = Self.kinds[word] else {
      let hint = nearest(to: word, among: Self.keywords.sorted())
      throw unexpected(
        isExtension ? "the definition that is extended" : "a definition",
        hint: hint.map { "did you mean '\($0)'?" })
    }
    advance()
    let type = try typeDefinition(kind, description, isExtension)
    if isExtension, type.isEmpty {
      throw unexpected("what is added to '\(type.name.text)'")
    }
    return .type(type)
  }

  private static let kinds: [String: TypeKind] = [
    "scalar": .scalar, "type": .object, "interface": .interface, "union": .union,
    "enum": .enumeration, "input": .inputObject,
  ]

  private mutating func schemaDefinition(
    _ description: DescriptionSyntax?, _ isExtension: Bool
  ) throws(SyntaxError) -> SchemaDefinitionSyntax {
    let keyword = currentRange
    advance()
    let directives = try directives(isConstant: true)
    var rootTypes: [SchemaDefinitionSyntax.RootType] = []
    if current.kind == .leftBrace {
      rootTypes = try list(until: .rightBrace, of: "root type") {
        (parser: inout Parser) throws(SyntaxError) in try parser.rootType()
      }
    } else if !isExtension || directives.isEmpty {
      throw unexpected("'{' and the root types of the schema")
    }
    return SchemaDefinitionSyntax(
      description: description, isExtension: isExtension, directives: directives,
      rootTypes: rootTypes, keywordRange: keyword)
  }

  private mutating func rootType() throws(SyntaxError) -> SchemaDefinitionSyntax.RootType {
    guard current.kind == .name, let operation = OperationKind(rawValue: text(current)) else {
      throw unexpected("'query', 'mutation' or 'subscription'")
    }
    let operationRange = currentRange
    advance()
    try expect(.colon, "behind '\(operation.rawValue)'")
    return SchemaDefinitionSyntax.RootType(
      operation: operation, operationRange: operationRange,
      type: try name("the name of a type"))
  }

  private mutating func typeDefinition(
    _ kind: TypeKind, _ description: DescriptionSyntax?, _ isExtension: Bool
  ) throws(SyntaxError) -> TypeDefinitionSyntax {
    let name = try name("the name of the type")
    var interfaces: [NameSyntax] = []
    if kind == .object || kind == .interface, takeWord("implements") {
      interfaces = try names(separatedBy: .ampersand, "an interface")
    }
    let directives = try directives(isConstant: true)
    var members: [NameSyntax] = []
    if kind == .union, take(.equals) { members = try names(separatedBy: .pipe, "a type") }
    var fields: [FieldDefinitionSyntax] = []
    var values: [EnumValueDefinitionSyntax] = []
    var inputFields: [InputValueDefinitionSyntax] = []
    if current.kind == .leftBrace {
      switch kind {
      case .object, .interface:
        fields = try list(until: .rightBrace, of: "field") {
          (parser: inout Parser) throws(SyntaxError) in try parser.fieldDefinition()
        }
      case .enumeration:
        values = try list(until: .rightBrace, of: "value") {
          (parser: inout Parser) throws(SyntaxError) in try parser.enumValueDefinition()
        }
      case .inputObject:
        inputFields = try list(until: .rightBrace, of: "field") {
          (parser: inout Parser) throws(SyntaxError) in try parser.inputValueDefinition()
        }
      case .scalar, .union: break
      }
    }
    return TypeDefinitionSyntax(
      kind: kind, name: name, description: description, isExtension: isExtension,
      interfaces: interfaces, directives: directives, fields: fields, members: members,
      values: values, inputFields: inputFields)
  }

  /// Names between separators; the first may have one before it.
  private mutating func names(
    separatedBy separator: Token.Kind, _ what: String
  ) throws(SyntaxError) -> [NameSyntax] {
    _ = take(separator)
    var result: [NameSyntax] = []
    repeat { result.append(try name(what)) } while take(separator)
    return result
  }

  private mutating func fieldDefinition() throws(SyntaxError) -> FieldDefinitionSyntax {
    let description = description()
    let name = try name("the name of a field")
    let arguments = try argumentDefinitions()
    try expect(.colon, "and the type of '\(name.text)'")
    let type = try type()
    return FieldDefinitionSyntax(
      description: description, name: name, arguments: arguments, type: type,
      directives: try directives(isConstant: true))
  }

  private mutating func argumentDefinitions() throws(SyntaxError) -> [InputValueDefinitionSyntax] {
    guard current.kind == .leftParenthesis else { return [] }
    return try list(until: .rightParenthesis, of: "argument") {
      (parser: inout Parser) throws(SyntaxError) in try parser.inputValueDefinition()
    }
  }

  private mutating func inputValueDefinition() throws(SyntaxError) -> InputValueDefinitionSyntax {
    let description = description()
    let name = try name("the name of an argument or input field")
    try expect(.colon, "and the type of '\(name.text)'")
    let type = try type()
    let defaultValue = take(.equals) ? try value(isConstant: true) : nil
    return InputValueDefinitionSyntax(
      description: description, name: name, type: type, defaultValue: defaultValue,
      directives: try directives(isConstant: true))
  }

  private mutating func enumValueDefinition() throws(SyntaxError) -> EnumValueDefinitionSyntax {
    let description = description()
    if isWord("true") || isWord("false") || isWord("null") {
      throw unexpected("the name of a value", hint: "true, false and null are other values")
    }
    let name = try name("the name of a value")
    return EnumValueDefinitionSyntax(
      description: description, name: name, directives: try directives(isConstant: true))
  }

  private mutating func directiveDefinition(
    _ description: DescriptionSyntax?
  ) throws(SyntaxError) -> DirectiveDefinitionSyntax {
    advance()
    let start = current.start
    try expect(.at, "before the name of a directive")
    let word = try name("the name of a directive")
    let name = NameSyntax(text: word.text, range: range(from: start))
    let arguments = try argumentDefinitions()
    let isRepeatable = takeWord("repeatable")
    guard takeWord("on") else { throw unexpected("'on' and where the directive may stand") }
    _ = take(.pipe)
    var locations: [DirectiveLocation] = []
    repeat {
      guard current.kind == .name, let location = DirectiveLocation(rawValue: text(current)) else {
        let known = DirectiveLocation.allCases.map(\.rawValue)
        let hint = current.kind == .name ? nearest(to: text(current), among: known) : nil
        throw unexpected(
          "a place where directives stand, such as FIELD",
          hint: hint.map { "did you mean '\($0)'?" })
      }
      locations.append(location)
      advance()
    } while take(.pipe)
    return DirectiveDefinitionSyntax(
      description: description, name: name, arguments: arguments, isRepeatable: isRepeatable,
      locations: locations)
  }
}

extension TypeDefinitionSyntax {
  /// Whether an extension adds nothing.
  fileprivate var isEmpty: Bool {
    interfaces.isEmpty && directives.isEmpty && fields.isEmpty && members.isEmpty && values.isEmpty
      && inputFields.isEmpty
  }
}
