// Rules about selected fields: that they exist, and have selections if their types have fields
// (5.3.1, 5.3.3).

import Diagnostics

extension Validator {
  /// Checks a field that is selected of `parent`; `definition` is nil if there is none.
  func checkSelection(_ field: FieldSyntax, _ definition: OutputField?, in parent: NamedType) {
    guard let definition else {
      report(
        "FieldsOnCorrectType", "'\(parent.name)' has no field '\(field.name.text)'",
        at: field.name.range, notes: hints(for: field.name.text, in: parent))
      return
    }
    guard let type = schema.type(in: definition.type) else { return }
    if type.isLeaf, let inner = field.selectionSet {
      report(
        "ScalarLeafs",
        "nothing can be selected of '\(field.name.text)': '\(definition.type)' has no fields",
        at: SourceRange(
          file: inner.range.file, start: inner.range.start, end: inner.range.start + 1))
    } else if !type.isLeaf, field.selectionSet == nil {
      report(
        "ScalarLeafs",
        "'\(field.name.text)' needs selections: '\(definition.type)' has fields",
        at: field.name.range,
        notes: [.hint("write '\(field.name.text) { … }' with the fields that are needed")])
    }
  }

  /// What an unknown field may have meant: a field of a type that narrows this one, or another
  /// name.
  private func hints(for name: String, in parent: NamedType) -> [Diagnostic] {
    if parent.isAbstract {
      let types = (schema.possibleTypes(of: parent) + schema.implementations(of: parent))
        .filter { $0.field(named: name) != nil }.map(\.name)
      if let type = types.first {
        return [.hint("'\(type)' has it: select it in '... on \(type) { … }'")]
      }
      if parent.kind == .union {
        return [.hint("only '__typename' can be selected of a union itself")]
      }
    }
    return suggestion(for: name, among: parent.fields.map(\.name))
  }
}
