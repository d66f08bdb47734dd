// ArgumentCheck: fields that are selected with different arguments, and stored in one place.
//
// What such selections bring is not the same thing, and the response that comes last would count.
// Arguments that choose a page of a list make no difference, nor does one variable instead of
// another: that is what these are for.

import Diagnostics
import DflatSchema
import GraphQLSchema

final class ArgumentCheck {
  private struct Slot: Hashable {
    let entity: String
    let table: String
    let field: String
  }

  private struct Selection {
    let arguments: [String: String]
    let syntax: FieldSyntax
  }

  /// Which part of a list is wanted.
  private static let paging: Set<String> = [
    "after", "before", "cursor", "first", "last", "limit", "offset", "page", "pageSize", "perPage",
    "per_page", "skip", "take",
  ]

  private let sink: DiagnosticSink
  /// The first selection that is stored in a field.
  private var first: [Slot: Selection] = [:]
  private var reported: Set<ObjectIdentifier> = []

  init(sink: DiagnosticSink) { self.sink = sink }

  /// Notes that a selection is stored in a field of a table.
  func note(
    _ selected: SelectedField, in field: FieldDefinition, of table: TableDefinition,
    _ entity: EntityTables
  ) {
    guard let syntax = selected.syntax, !selected.definition.arguments.isEmpty else { return }
    let slot = Slot(entity: entity.name, table: table.name.name, field: field.name)
    let selection = Selection(
      arguments: Self.arguments(of: syntax, selected.definition), syntax: syntax)
    guard let other = first[slot] else {
      first[slot] = selection
      return
    }
    guard other.arguments != selection.arguments,
      reported.insert(ObjectIdentifier(syntax)).inserted
    else { return }
    sink.warning(
      "'\(syntax.responseKey)' and another selection have different arguments, and both are stored "
        + "in '\(field.name)' of \(table.name.name): the response that comes last counts",
      at: (syntax.alias ?? syntax.name).range,
      notes: [
        (other.syntax.alias ?? other.syntax.name).range.note("the other one is here"),
        .hint(
          "select '\(field.name)' with the same arguments in both; beside it, a selection with an "
            + "alias is in the data and not stored"),
      ])
  }

  /// The values of all arguments that matter, also of those that are left out.
  private static func arguments(
    of syntax: FieldSyntax, _ definition: OutputField
  ) -> [String: String] {
    var values: [String: String] = [:]
    for argument in definition.arguments where !paging.contains(argument.name) {
      let given = syntax.arguments.first { $0.name.text == argument.name }?.value
      guard let value = given ?? argument.defaultValue else { continue }
      // Without a default, null is the same as nothing for most services.
      if value.isNull { continue }
      if case .variable = value.kind {
        values[argument.name] = "$"
      } else {
        values[argument.name] = value.canonicalText
      }
    }
    return values
  }
}
