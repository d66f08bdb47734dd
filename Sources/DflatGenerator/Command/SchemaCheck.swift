// SchemaCheck: `dflatc check`, which compares two files and prints the result as text or JSON.
//
// The exit status is 0 if the new version is compatible, 2 if it is not, and 1 if a schema cannot
// be read. The JSON's keys and values are stable; `format` increases when something is added.

import DflatSchema
import Foundation

struct SchemaCheck {
  enum Status {
    static let compatible: Int32 = 0
    static let unreadable: Int32 = 1
    static let incompatible: Int32 = 2
  }

  let request: CheckRequest
  /// Include directories from the configuration file.
  let include: [String]
  let output: (String) -> Void
  let errors: (String) -> Void

  func run() -> Int32 {
    let shared = request.include + include
    let oldInclude = request.oldInclude.isEmpty ? shared : request.oldInclude
    let old = SchemaCompiler(includePaths: oldInclude).compile(file: request.old)
    let new = SchemaCompiler(includePaths: shared).compile(file: request.new)
    for result in [old, new] where result.schema == nil {
      for diagnostic in result.diagnostics { errors(diagnostic.rendered() + "\n") }
    }
    guard let oldSchema = old.schema, let newSchema = new.schema else { return Status.unreadable }
    let comparison = SchemaComparison(old: oldSchema, new: newSchema)
    if request.printsJSON {
      output(json(comparison))
    } else {
      for change in comparison.changes {
        output(diagnostic(change, old, new).rendered() + "\n")
      }
      output(summary(comparison.changes) + "\n")
    }
    return comparison.isCompatible ? Status.compatible : Status.incompatible
  }

  // MARK: Text

  /// The new position with its line, the effect of the change, and the old position.
  private func diagnostic(
    _ change: SchemaChange, _ old: CompilationResult, _ new: CompilationResult
  ) -> Diagnostic {
    let severity: Diagnostic.Severity =
      switch change.severity {
      case .incompatible: .error
      case .caution: .warning
      case .compatible: .note
      }
    let effect = Diagnostic(severity: .note, message: change.effect, position: nil)
    return new.diagnostic(
      severity, change.message, at: change.new,
      notes: [effect, old.diagnostic(.note, "in the old version", at: change.old)])
  }

  private func summary(_ changes: [SchemaChange]) -> String {
    func count(_ severity: SchemaChange.Severity) -> Int {
      changes.count { $0.severity == severity }
    }
    func text(_ count: Int) -> String { "\(count) change\(count == 1 ? "" : "s")" }
    if changes.isEmpty { return "compatible: no changes" }
    let harm = count(.incompatible)
    if harm > 0 { return "incompatible: \(harm) of \(text(changes.count))" }
    let cautions = count(.caution)
    return "compatible: \(text(changes.count))"
      + (cautions > 0 ? ", \(cautions) to be noted" : "")
  }

  // MARK: JSON

  private struct Report: Encodable {
    struct Place: Encodable {
      let file: String
      let line: Int
      let column: Int

      init(_ position: SourcePosition) {
        (file, line, column) = (position.file, position.line, position.column)
      }
    }

    struct Change: Encodable {
      let kind: String
      let severity: String
      let subject: String
      let message: String
      let effect: String
      let old: Place
      let new: Place
    }

    let format = 1
    let verdict: String
    let old: String
    let new: String
    let changes: [Change]
  }

  private func json(_ comparison: SchemaComparison) -> String {
    let report = Report(
      verdict: comparison.isCompatible ? "compatible" : "incompatible", old: request.old,
      new: request.new,
      changes: comparison.changes.map { change in
        Report.Change(
          kind: change.kind.rawValue, severity: change.severity.rawValue, subject: change.subject,
          message: change.message, effect: change.effect, old: Report.Place(change.old),
          new: Report.Place(change.new))
      })
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(report), as: UTF8.self) + "\n"
    } catch {
      preconditionFailure("a report of strings and integers cannot be encoded: \(error)")
    }
  }
}
