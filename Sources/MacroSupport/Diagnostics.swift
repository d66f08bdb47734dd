// The diagnostics and fix-its of all macros.

package import SwiftDiagnostics
package import SwiftSyntax
package import SwiftSyntaxMacros

/// A message at a location in the program.
package struct Message: DiagnosticMessage, FixItMessage, NoteMessage {
  package let message: String
  package let name: String
  package var severity: DiagnosticSeverity = .error

  package init(message: String, name: String, severity: DiagnosticSeverity = .error) {
    self.message = message
    self.name = name
    self.severity = severity
  }

  package var diagnosticID: MessageID { MessageID(domain: "Dflat", id: name) }
  package var fixItID: MessageID { diagnosticID }
  package var noteID: MessageID { diagnosticID }
}

extension MacroExpansionContext {
  /// Reports an error, or a warning, at a node, with fix-its.
  package func reportError(
    _ node: some SyntaxProtocol, _ name: String, _ message: String, fixIts: [FixIt] = [],
    severity: DiagnosticSeverity = .error
  ) {
    diagnose(
      Diagnostic(
        node: node, message: Message(message: message, name: name, severity: severity),
        fixIts: fixIts))
  }
}

/// A fix-it that replaces a node.
package func replace(
  _ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String
) -> FixIt {
  FixIt(
    message: Message(message: message, name: "fix"),
    changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
}

/// The name that is most similar to a misspelt one, if it is similar enough.
package func nearest(to name: String, among names: [String]) -> String? {
  let candidates = names.map { ($0, distance(Array(name.lowercased()), Array($0.lowercased()))) }
  guard let best = candidates.min(by: { $0.1 < $1.1 }) else { return nil }
  return best.1 <= max(1, name.count / 2) ? best.0 : nil
}

/// The edit distance: the number of characters to insert, remove or replace.
private func distance(_ left: [Character], _ right: [Character]) -> Int {
  var previous = Array(0...right.count)
  for (row, character) in left.enumerated() {
    var current = [row + 1]
    for (column, other) in right.enumerated() {
      current.append(
        min(
          previous[column] + (character == other ? 0 : 1), previous[column + 1] + 1,
          current[column] + 1))
    }
    previous = current
  }
  return previous[right.count]
}
