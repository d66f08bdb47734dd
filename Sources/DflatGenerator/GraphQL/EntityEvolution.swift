// EntityEvolution: the schema that follows a committed one.
//
// What is stored stays readable if that is possible. The comparison of `dflatc check` has the last
// word: if it finds the new schema incompatible, the entity gets a new version, and so a new table.

import DflatSchema
import Foundation

struct EntityEvolution {
  /// The folder of the earlier schemas.
  let folder: String

  /// The schema to write, or nil if the earlier one cannot be read, and what is to be said.
  func next(_ model: EntityModel) -> (model: EntityModel?, diagnostics: [Diagnostic]) {
    let path = "\(folder)/\(EntityModeler.fileName(of: model.entity))"
    guard FileManager.default.fileExists(atPath: path) else { return (model.numbered, []) }
    let old = SchemaCompiler(includePaths: [folder]).compile(file: path)
    guard let schema = old.schema else { return (nil, old.diagnostics) }
    guard let older = EntityModel(schema, entity: model.entity) else {
      let start = SourcePosition(file: path, line: 1, column: 1)
      return (
        nil,
        [
          old.diagnostic(
            .error, "the earlier schema has no table '\(model.entity)'", at: start,
            notes: [.hint("remove the file if it has another purpose")])
        ]
      )
    }
    let grown = model.grown(from: older)
    let new = SchemaCompiler().compile(
      source: Array(grown.alone.text.utf8), path: EntityModeler.fileName(of: model.entity))
    let changes = new.schema.map { SchemaComparison(old: schema, new: $0).changes } ?? []
    let harmful = changes.filter { $0.severity == .incompatible || $0.concernsSwiftType }
    if new.schema != nil, harmful.isEmpty { return (grown, []) }
    let fresh = model.numbered.renewed(after: older.root.version)
    let what =
      "'\(model.entity)' gets the new version \(fresh.root.version), and what is stored stays behind"
    func warning(
      _ reason: String, _ effect: String?, at position: SourcePosition
    ) -> Diagnostic {
      old.diagnostic(
        .warning, "\(what): \(reason)", at: position,
        notes: effect.map { [.hint($0)] } ?? [])
    }
    if new.schema == nil {
      // Such as an index by hand on a field that has no order any more.
      let reason = new.diagnostics.first?.message ?? "the earlier schema cannot be continued"
      return (fresh, [warning(reason, nil, at: SourcePosition(file: path, line: 1, column: 1))])
    }
    return (fresh, harmful.map { warning($0.message, $0.effect, at: $0.old) })
  }
}

extension SchemaChange {
  /// Whether a field has another type in Swift: what was stored for a scalar before it was mapped
  /// has another form, such as a text in the server's own spelling.
  fileprivate var concernsSwiftType: Bool { kind == .attributeChanged && severity == .caution }
}
