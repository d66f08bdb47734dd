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
  /// Compares the shape with the frozen one.
  var differences: (_ shape: Shape, _ stored: Shape) -> [Shape.Difference] = {
    $0.differences(from: $1)
  }

  /// Reports all differences from the frozen shape. The code is generated nevertheless, so that no
  /// other message follows from them.
  /// - Returns: The shape as the frozen one spells it; nil if there is none.
  func report(in context: some MacroExpansionContext) -> FrozenShape? {
    guard let argument else {
      context.reportError(
        attribute, "noShape",
        "nothing protects what is stored from accidental changes; add shape: \"\(shape.text)\"",
        fixIts: [adding()], severity: .warning)
      return nil
    }
    guard
      let text = argument.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue,
      let stored = Shape(text)
    else {
      context.reportError(
        argument.expression, "noShapeText",
        "a shape is a string literal with entries like \"title:S\"; take \"\(shape.text)\"",
        fixIts: [replacing(argument, with: shape)])
      return nil
    }
    let spelled = shape.spelled(asIn: stored)
    let differences = self.differences(spelled, stored)
    let misread = differences.filter { !$0.isCompatible }
    for difference in misread {
      context.reportError(
        place(of: difference, argument), difference.kind,
        "\(difference.message); \(newVersion(spelled))")
    }
    for difference in differences where difference.isCompatible {
      // A shape that has one change has the others as well.
      context.reportError(
        place(of: difference, argument), difference.kind,
        misread.isEmpty
          ? "\(difference.message); stored values stay readable: take shape: \"\(spelled.text)\""
          : "\(difference.message), but not alone; with the other changes \(newVersion(spelled))",
        fixIts: misread.isEmpty ? [replacing(argument, with: spelled)] : [])
    }
    return FrozenShape(
      entries: zip(shape.entries, spelled.entries).map { entry, spelled in
        let isAliased = spelled.aliased.contains { $0 != nil }
        return FrozenShape.Entry(
          name: entry.name, aliased: spelled.aliased,
          misread: isAliased
            ? "'\(entry.name)' was stored as \(spelled.code) and is \(entry.code) now; "
              + newVersion(shape) : "")
      })
  }

  private func place(of difference: Shape.Difference, _ argument: LabeledExprSyntax) -> Syntax {
    difference.position.map { places[$0] } ?? Syntax(argument.expression)
  }

  /// What to do about stored values that would be misread.
  private func newVersion(_ shape: Shape) -> String {
    "stored values would be misread: \(advice)shape: \"\(shape.text)\""
  }

  private func replacing(_ argument: LabeledExprSyntax, with shape: Shape) -> FixIt {
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

/// What the frozen shape of a declaration says about the names of types in it.
struct FrozenShape {
  struct Entry {
    let name: String
    /// For each type of the entry a plain type that the name must stand for, in Swift; nil if the
    /// shape has the name itself.
    let aliased: [String?]
    /// The message if a name stands for another type.
    let misread: String
  }

  let entries: [Entry]

  func entry(_ name: String) -> Entry? { entries.first { $0.name == name } }
}
