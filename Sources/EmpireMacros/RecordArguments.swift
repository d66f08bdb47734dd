// The arguments of @IndexKeyRecord: tags, then the names of the key's properties.

internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct RecordArguments {
  /// A tag as it stands in the program.
  struct Tag {
    let value: UInt32
    let expression: ExprSyntax
  }

  /// A name as it stands in the program.
  struct Name {
    let text: String
    let expression: ExprSyntax
  }

  private(set) var validated: Tag?
  private(set) var keyPrefix: Tag?
  private(set) var fieldsVersion: Tag?
  private(set) var names: [Name] = []

  /// Nil if something is wrong with them, which has been said then.
  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) {
    guard case .argumentList(let arguments) = node.arguments else {
      Self.refuseMissingKey(node, of: declaration, in: context)
      return nil
    }
    var isRight = true
    for argument in arguments {
      if let label = argument.label?.text {
        guard let value = Self.integer(argument.expression) else {
          context.refuse(
            argument.expression, "noInteger",
            "'\(label)' has to be an integer literal from 0 to 4294967295")
          isRight = false
          continue
        }
        let tag = Tag(value: value, expression: argument.expression)
        switch label {
        case "validated": validated = tag
        case "keyPrefix": keyPrefix = tag
        case "fieldsVersion": fieldsVersion = tag
        default:
          context.refuse(argument, "unknownArgument", "@IndexKeyRecord has no argument '\(label)'")
          isRight = false
        }
      } else if let name = Self.name(argument.expression, in: context) {
        names.append(name)
      } else {
        isRight = false
      }
    }
    if let validated, keyPrefix != nil || fieldsVersion != nil {
      context.refuse(
        validated.expression, "validatedWithTags",
        "'validated' checks a hash, so it cannot stand beside 'keyPrefix' or 'fieldsVersion'")
      isRight = false
    }
    if names.isEmpty && isRight {
      Self.refuseMissingKey(node, of: declaration, in: context)
      isRight = false
    }
    if !isRight { return nil }
  }

  private static func refuseMissingKey(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) {
    let first = declaration.memberBlock.members.lazy.compactMap { member in
      member.decl.as(VariableDeclSyntax.self)?.bindings.first?.pattern
        .as(IdentifierPatternSyntax.self)?.identifier.text
    }.first
    context.refuse(
      node, "noKeys", "@IndexKeyRecord needs the name of at least one property: its key",
      fixIts: first.map { name in
        let argument = LabeledExprSyntax(expression: StringLiteralExprSyntax(content: name))
        let mended = node.with(\.leftParen, .leftParenToken())
          .with(\.arguments, .argumentList([argument])).with(\.rightParen, .rightParenToken())
        return [replace(node, with: mended, "make '\(name)' the key")]
      } ?? [])
  }

  /// The arguments of a macro that has names only. Nil if something is wrong with them, which has been said then.
  static func names(
    _ node: AttributeSyntax, _ macro: String, in context: some MacroExpansionContext
  ) -> [Name]? {
    guard case .argumentList(let arguments) = node.arguments, !arguments.isEmpty else {
      context.refuse(node, "noNames", "\(macro) needs the name of at least one property")
      return nil
    }
    let names = arguments.map { name($0.expression, in: context) }
    return names.contains { $0 == nil } ? nil : names.compactMap(\.self)
  }

  private static func name(
    _ expression: ExprSyntax, in context: some MacroExpansionContext
  ) -> Name? {
    let text = expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    if let text, !text.isEmpty { return Name(text: text, expression: expression) }
    context.refuse(
      expression, "noName",
      "the name of a property has to be a string literal without interpolation")
    return nil
  }

  private static func integer(_ expression: ExprSyntax) -> UInt32? {
    guard let literal = expression.as(IntegerLiteralExprSyntax.self) else { return nil }
    let text = literal.literal.text.filter { $0 != "_" }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where text.hasPrefix(prefix) {
      return UInt32(text.dropFirst(2), radix: radix)
    }
    return UInt32(text)
  }
}
