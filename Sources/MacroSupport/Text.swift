// The text of generated code and of messages.

package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

extension [String] {
  /// a, b
  package var commas: String { joined(separator: ", ") }
  /// One below the other.
  package var lines: String { joined(separator: "\n") }

  /// Declarations without warnings about the use of what is deprecated, if some of it is.
  package func inDeprecated(_ isDeprecated: Bool) -> [String] {
    isDeprecated ? map { "@available(*, deprecated)\n" + $0 } : self
  }

  /// 'a', 'b'
  package var quoted: String { map { "'\($0)'" }.joined(separator: ", ") }
}

extension String {
  /// A literal of the text.
  package var literal: String { StringLiteralExprSyntax(content: self).description }

  /// A literal of the text, one line, in the form that attributes take.
  package var plainLiteral: String {
    "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// The text in braces after a head, indented.
  package func wrapped(in head: String) -> String {
    let body = split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
    return "\(head) {\n\(body)\n}"
  }
}

extension SyntaxProtocol {
  /// The text without trivia around it, for a type that is nested in the one it was written in:
  /// there `Self` has another meaning.
  package func text(in ownName: String) -> String {
    trimmed.tokens(viewMode: .sourceAccurate).map { token in
      guard token.tokenKind == .keyword(.Self) else { return token.description }
      return token.leadingTrivia.description + ownName + token.trailingTrivia.description
    }.joined()
  }

  /// A declaration of one line that the compiler takes to stand in this node's line, so that it
  /// reports errors in it there.
  package func inItsLine(_ declaration: String, in context: some MacroExpansionContext) -> String {
    guard let place = context.location(of: self, at: .afterLeadingTrivia, filePathMode: .filePath)
    else { return declaration }
    return """
      #sourceLocation(file: \(place.file.trimmedDescription), line: \(place.line.trimmedDescription))
      \(declaration)
      #sourceLocation()
      """
  }
}
