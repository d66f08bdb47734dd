// CommittedSchema: whether an entity's schema is the one that is committed.
//
// Slots and versions of what is stored come from the committed schema. If a release is built while
// that is out of date, the next release may use the same slots for other fields, and would misread
// what the first has stored.

import DflatSchema
import Foundation

struct CommittedSchema {
  /// Where the schemas are.
  let folder: String
  let commitment: GraphQLRequest.Commitment

  /// How many lines a message shows.
  private static let shownLines = 3

  /// What is wrong if a schema is not the committed one. Comments and blanks do not matter.
  func faults(of model: EntityModel) -> [Diagnostic] {
    let path = "\(folder)/\(EntityModeler.fileName(of: model.entity))"
    guard FileManager.default.fileExists(atPath: path) else {
      // Without a committed schema, the version is a digest of all fields.
      guard commitment == .checked else { return [] }
      return [fault(path, "the schema of '\(model.entity)' is missing")]
    }
    let committed = SchemaCompiler(includePaths: [folder]).compile(file: path)
    guard let schema = committed.schema else { return committed.diagnostics }
    let old = EntityModel(schema, entity: model.entity)?.comparableLines ?? []
    let new = model.comparableLines
    if old == new { return [] }
    let added = new.difference(from: old).insertions.compactMap { change -> String? in
      guard case .insert(_, let line, _) = change else { return nil }
      return line.trimmingCharacters(in: .whitespaces)
    }
    return [
      fault(
        path, "the committed schema of '\(model.entity)' is not up to date",
        lines: added.prefix(Self.shownLines).map { "it would have '\($0)'" })
    ]
  }

  private func fault(_ path: String, _ message: String, lines: [String] = []) -> Diagnostic {
    let command =
      if case .locked(let remedy?) = commitment { "'\(remedy)'" } else {
        "this command with '-o \(folder) --schemas-only'"
      }
    return Diagnostic(
      severity: commitment == .none ? .warning : .error, message: message,
      position: SourcePosition(file: path, line: 1, column: 1),
      notes: lines.map { .hint($0) } + [
        .hint("run \(command), and commit the file: it says where stored fields are")
      ])
  }
}

extension EntityModel {
  /// The lines of the schema with all slots, without includes, which follow from relations.
  fileprivate var comparableLines: [String] {
    var model = root.fields.contains { $0.slot == nil } ? numbered : self
    model.includes = []
    return model.text.split(separator: "\n").map(String.init)
  }
}
