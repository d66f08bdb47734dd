// The arguments of Silo's macros.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax
internal import SwiftSyntaxMacros

extension AttributeSyntax {
  /// The argument with a label; with nil, the first one without a label.
  func argument(_ label: String?) -> LabeledExprSyntax? {
    guard case .argumentList(let arguments) = arguments else { return nil }
    return arguments.first { $0.label?.text == label }
  }

  /// The version; nil after reporting an error if it is none.
  func version(_ label: String?, in context: some MacroExpansionContext) -> Int? {
    guard let argument = argument(label) else { return 1 }
    if let literal = argument.expression.as(IntegerLiteralExprSyntax.self),
      let version = Int(literal.literal.text.filter { $0 != "_" }), version > 0
    {
      return version
    }
    context.reportError(
      argument.expression, "noVersion", "a version is an integer literal from 1 up")
    return nil
  }

  /// The table; nil after reporting an error if it is none. By default it is the given name.
  func table(_ name: String, in context: some MacroExpansionContext) -> String? {
    guard let argument = argument("table") else {
      // Only a name in backticks has other characters than these.
      if name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) {
        return requireFree(name, at: self, in: context)
      }
      let plain = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "_" }
      let words = plain.joined().split(separator: "_").joined(separator: "_")
      context.reportError(
        self, "noTable",
        "the name of this type is no name of a table; name one, as in table: "
          + "\((words.first?.isLetter == true ? words : "values_" + words).literal)")
      return nil
    }
    let text = argument.expression.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    if let text, isTable(text) { return requireFree(text, at: argument.expression, in: context) }
    context.reportError(
      argument.expression, "noTable",
      "a table is a string literal of letters, digits and '_', without '__' and not beginning "
        + "with a digit")
    return nil
  }

  /// The name of a table; nil after reporting an error if SQLite would refuse it.
  private func requireFree(
    _ table: String, at place: some SyntaxProtocol, in context: some MacroExpansionContext
  ) -> String? {
    if !table.lowercased().hasPrefix("sqlite_") { return table }
    context.reportError(
      place, "reservedTable",
      "SQLite keeps names that begin with 'sqlite_' for itself; name another table, as in table: "
        + "\("values_\(table.lowercased())".literal)")
    return nil
  }

  private func isTable(_ text: String) -> Bool {
    let isPlain = text.utf8.allSatisfy {
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "_")
    }
    return isPlain && !text.isEmpty && text.first?.isNumber == false && !text.contains("__")
      && !text.hasPrefix("_")
  }
}
