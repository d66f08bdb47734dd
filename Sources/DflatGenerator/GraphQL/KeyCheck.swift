// KeyCheck: selections of entities without their keys.
//
// An object whose key is not in the response cannot be stored, nor found in what is stored.

import Diagnostics
import GraphQLSchema

struct KeyCheck {
  let operations: Operations
  let key: String
  let entities: [NamedType]
  let sink: DiagnosticSink

  private var schema: GraphQLSchema.Schema { operations.schema }

  /// Reports every selected field whose objects are entities and have no key there.
  func run() {
    var pending = operations.operations.map(\.selectionSet)
    pending += operations.fragments.map(\.selectionSet)
    while let selections = pending.popLast() {
      for selection in selections.selections {
        switch selection {
        case .field(let field):
          guard let inner = field.selectionSet else { continue }
          pending.append(inner)
          check(field, inner)
        case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
  }

  private func check(_ field: FieldSyntax, _ selections: SelectionSetSyntax) {
    guard let type = operations.type(of: field),
      let entity = entities.first(where: { schema.isSubtype(type, of: $0) }),
      !selects(selections, in: type)
    else { return }
    // The key of a union is that of its members; a type without such a field cannot select it.
    let lacking = schema.possibleTypes(of: type)
      .filter { $0.field(named: key) != nil && !selects(selections, in: $0) }
    guard let first = lacking.first else { return }
    let subject = lacking.count == schema.possibleTypes(of: type).count ? entity : first
    sink.warning(
      "'\(field.responseKey)' selects '\(subject.name)' without its key '\(key)', so these objects "
        + "cannot be stored", at: (field.alias ?? field.name).range,
      notes: [.hint("add '\(key)' to this selection")])
  }

  /// Whether a selection set has the key of every object of a type.
  private func selects(_ selections: SelectionSetSyntax, in type: NamedType) -> Bool {
    var pending = [selections]
    var seen: Set<ObjectIdentifier> = []
    while let selections = pending.popLast() {
      guard seen.insert(ObjectIdentifier(selections)).inserted else { continue }
      for selection in selections.selections {
        switch selection {
        case .field(let field):
          if field.name.text == key { return true }
        case .inlineFragment(let fragment):
          let condition = fragment.typeCondition.flatMap { schema.type(named: $0.text) } ?? type
          if schema.isSubtype(type, of: condition) { pending.append(fragment.selectionSet) }
        case .fragmentSpread(let spread):
          guard let fragment = operations.fragment(of: spread),
            let condition = schema.type(named: fragment.typeCondition.text),
            schema.isSubtype(type, of: condition)
          else { continue }
          pending.append(fragment.selectionSet)
        }
      }
    }
    return false
  }
}
