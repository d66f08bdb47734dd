// The arguments of @IndexKeyRecord: tags, then the names of the key's properties.

internal import SwiftParser
internal import SwiftSyntax
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
  init?(_ node: AttributeSyntax, in context: some MacroExpansionContext) {
    guard case .argumentList(let arguments) = node.arguments else {
      context.refuse(
        node, "noKeys", "@IndexKeyRecord needs the name of at least one property: its key")
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
      } else if let text = Self.text(argument.expression), !text.isEmpty {
        names.append(Name(text: text, expression: argument.expression))
      } else {
        context.refuse(
          argument.expression, "noName",
          "the name of a property has to be a string literal without interpolation")
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
      context.refuse(
        node, "noKeys", "@IndexKeyRecord needs the name of at least one property: its key")
      isRight = false
    }
    if !isRight { return nil }
  }

  private static func text(_ expression: ExprSyntax) -> String? {
    expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
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
