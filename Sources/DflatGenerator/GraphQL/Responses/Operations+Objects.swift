// What operations and fragments select of objects, wherever that stands in them.

import GraphQLSchema

/// An operation or a fragment, told apart by what it selects.
struct ExecutableDefinition: Hashable {
  private let id: ObjectIdentifier

  init(_ set: SelectionSetSyntax) { id = ObjectIdentifier(set) }

  init(_ fragment: FragmentSyntax) { self.init(fragment.selectionSet) }
}

extension Operations {
  /// Calls `body` with each field of all operations and fragments that selects something of its
  /// value.
  func forEachObject(_ body: (ExecutableDefinition, FieldSyntax, SelectionSetSyntax) -> Void) {
    forEachSelection { definition, selection in
      guard case .field(let field) = selection, let inner = field.selectionSet else { return }
      body(definition, field, inner)
    }
  }

  /// Calls `body` with each fragment that operations and fragments spread themselves.
  func forEachSpread(_ body: (ExecutableDefinition, ExecutableDefinition) -> Void) {
    forEachSelection { definition, selection in
      guard case .fragmentSpread(let spread) = selection, let fragment = fragment(of: spread) else {
        return
      }
      body(definition, ExecutableDefinition(fragment))
    }
  }

  /// Calls `body` with each selection of all operations and fragments.
  private func forEachSelection(_ body: (ExecutableDefinition, SelectionSyntax) -> Void) {
    let sets = operations.map(\.selectionSet) + fragments.map(\.selectionSet)
    for whole in sets.reversed() {
      let definition = ExecutableDefinition(whole)
      var pending = [whole]
      while let set = pending.popLast() {
        for selection in set.selections {
          switch selection {
          case .field(let field): field.selectionSet.map { pending.append($0) }
          case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
          case .fragmentSpread: break
          }
          body(definition, selection)
        }
      }
    }
  }
}
