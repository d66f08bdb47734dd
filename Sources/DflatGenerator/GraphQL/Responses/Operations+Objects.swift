// What operations and fragments select of objects, wherever that stands in them.

import GraphQLSchema

extension Operations {
  /// Calls `body` with each field of all operations and fragments that selects something of its
  /// value.
  func forEachObject(_ body: (FieldSyntax, SelectionSetSyntax) -> Void) {
    var pending = operations.map(\.selectionSet) + fragments.map(\.selectionSet)
    while let set = pending.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          guard let inner = field.selectionSet else { continue }
          pending.append(inner)
          body(field, inner)
        case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
  }
}
