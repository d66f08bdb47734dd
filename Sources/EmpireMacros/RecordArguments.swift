// The arguments of @IndexKeyRecord: tags, then the names of the key's properties.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct RecordArguments {
  /// A tag, with its expression in the program.
  struct Tag {
    let value: UInt32
    let expression: ExprSyntax
  }

  /// A name, with its expression in the program.
  struct Name {
    let text: String
    let expression: ExprSyntax
  }

  private(set) var validated: Tag?
  private(set) var keyPrefix: Tag?
  private(set) var fieldsVersion: Tag?
  private(set) var names: [Name] = []

  /// Returns nil after reporting an error if the arguments are invalid.
  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) {
    guard case .argumentList(let arguments) = node.arguments else {
      Self.reportMissingKey(node, of: declaration, in: context)
      return nil
    }
    var isValid = true
    for argument in arguments {
      if let label = argument.label?.text {
        guard let value = Self.integer(argument.expression) else {
          context.reportError(
            argument.expression, "noInteger",
            "'\(label)' must be an integer literal from 0 to 4294967295")
          isValid = false
          continue
        }
        let tag = Tag(value: value, expression: argument.expression)
        switch label {
        case "validated": validated = tag
        case "keyPrefix": keyPrefix = tag
        case "fieldsVersion": fieldsVersion = tag
        default:
          context.reportError(
            argument, "unknownArgument", "@IndexKeyRecord has no argument '\(label)'")
          isValid = false
        }
      } else if let name = Self.name(argument.expression, in: context) {
        names.append(name)
      } else {
        isValid = false
      }
    }
    if let validated, keyPrefix != nil || fieldsVersion != nil {
      context.reportError(
        validated.expression, "validatedWithTags",
        "'validated' checks a hash, so it cannot be combined with 'keyPrefix' or 'fieldsVersion'")
      isValid = false
    }
    if names.isEmpty && isValid {
      Self.reportMissingKey(node, of: declaration, in: context)
      isValid = false
    }
    if !isValid { return nil }
  }

  private static func reportMissingKey(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) {
    let first = declaration.memberBlock.members.lazy.compactMap { member in
      member.decl.as(VariableDeclSyntax.self)?.bindings.first?.pattern
        .as(IdentifierPatternSyntax.self)?.identifier.text
    }.first
    context.reportError(
      node, "noKeys", "@IndexKeyRecord needs the name of at least one property: its key",
      fixIts: first.map { name in
        let argument = LabeledExprSyntax(expression: StringLiteralExprSyntax(content: name))
        let fixed = node.with(\.leftParen, .leftParenToken())
          .with(\.arguments, .argumentList([argument])).with(\.rightParen, .rightParenToken())
        return [replace(node, with: fixed, "make '\(name)' the key")]
      } ?? [])
  }

  /// The arguments of a macro that takes only names. Returns nil after reporting an error if they
  /// are invalid.
  static func names(
    _ node: AttributeSyntax, _ macro: String, in context: some MacroExpansionContext
  ) -> [Name]? {
    guard case .argumentList(let arguments) = node.arguments, !arguments.isEmpty else {
      context.reportError(node, "noNames", "\(macro) needs the name of at least one property")
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
    context.reportError(
      expression, "noName",
      "the name of a property must be a string literal without interpolation")
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
