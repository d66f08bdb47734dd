// Comparing the frozen shape of a declaration with its properties.

internal import MacroSupport
internal import SwiftDiagnostics
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

/// A declaration's frozen shape, and where its parts stand in the program.
struct ShapeCheck {
  let attribute: AttributeSyntax
  /// The argument; nil if the declaration has none.
  let argument: LabeledExprSyntax?
  /// What the properties say.
  let shape: Shape
  /// Where each slot is declared.
  let places: [Syntax]
  /// What to do if stored values would be misread.
  let advice: String

  /// Reports all differences. Returns false if there are any.
  func report(in context: some MacroExpansionContext) -> Bool {
    guard let argument else {
      context.reportError(
        attribute, "noShape",
        "nothing protects what is stored from accidental changes; add shape: \"\(shape.text)\"",
        fixIts: [adding()], severity: .warning)
      return true
    }
    guard
      let text = argument.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue,
      let stored = Shape(text)
    else {
      context.reportError(
        argument.expression, "noShapeText",
        "a shape is a string literal with entries like \"title:S\"; take \"\(shape.text)\"",
        fixIts: [replacing(argument)])
      return false
    }
    let differences = shape.differences(from: stored)
    for difference in differences {
      let place = difference.position.map { places[$0] } ?? Syntax(argument.expression)
      if difference.isCompatible {
        let areAll = differences.allSatisfy(\.isCompatible)
        context.reportError(
          place, difference.kind,
          "\(difference.message); stored values stay readable: take shape: \"\(shape.text)\"",
          fixIts: areAll ? [replacing(argument)] : [])
      } else {
        context.reportError(
          place, difference.kind,
          "\(difference.message); stored values would be misread: \(advice)shape: \"\(shape.text)\""
        )
      }
    }
    return differences.isEmpty
  }

  private func replacing(_ argument: LabeledExprSyntax) -> FixIt {
    replace(
      argument.expression, with: StringLiteralExprSyntax(content: shape.text),
      "take the new shape")
  }

  private func adding() -> FixIt {
    var list: LabeledExprListSyntax = []
    if case .argumentList(let arguments) = attribute.arguments { list = arguments }
    if let last = list.indices.last {
      list[last].trailingComma = .commaToken(trailingTrivia: .space)
    }
    list.append(
      LabeledExprSyntax(
        label: "shape", expression: StringLiteralExprSyntax(content: shape.text)))
    let fixed = attribute.with(\.leftParen, .leftParenToken())
      .with(\.arguments, .argumentList(list)).with(\.rightParen, .rightParenToken())
    return replace(attribute, with: fixed, "add the shape")
  }
}
