// ApolloVariants: the structs of narrowed objects that Apollo's classic code generator makes.
//
// The object types of a selection set are split by the type conditions inside of it. Each part has
// a struct that is called after its types, `AsUserOrBot`, and has the fields of all conditions that
// its objects satisfy. Objects that satisfy none are those of the struct around it.

import GraphQLSchema

extension ApolloSelections {
  /// The types of the objects of a scope.
  func objects(of scope: ApolloScope) -> [NamedType] {
    scope.objects ?? scope.types.last.map(schema.possibleTypes) ?? []
  }

  /// A type condition that selects something.
  private struct Condition {
    let type: NamedType
    /// The names of the object types that satisfy it, and those around it.
    let objects: Set<String>
  }

  /// The narrower forms of a classic place; these have none themselves.
  func variants(of place: ApolloPlace) -> [(property: String, place: ApolloPlace)] {
    guard place.wider == nil else { return [] }
    let objects = inOrder(objects(of: place.scope), of: place.type)
    var conditions: [Condition] = []
    for source in place.sources {
      find(in: source.selections, place.type, Set(objects.map(\.name)), &conditions)
    }
    conditions.removeAll { $0.objects.count == objects.count }
    var parts: [(conditions: [Int], objects: [NamedType])] = []
    for object in objects {
      let satisfied = conditions.indices.filter { conditions[$0].objects.contains(object.name) }
      if let part = parts.firstIndex(where: { $0.conditions == satisfied }) {
        parts[part].objects.append(object)
      } else if !satisfied.isEmpty {
        parts.append((satisfied, [object]))
      }
    }
    return parts.map { part in
      let types =
        part.objects.count == 1 ? part.objects : part.conditions.map { conditions[$0].type }
      let narrowest = types.min {
        schema.possibleTypes(of: $0).count < schema.possibleTypes(of: $1).count
      }
      let name = names.type(narrowedTo: part.objects)
      let scope = ApolloScope(
        swift: "\(place.swift).\(name)", types: types, objects: part.objects)
      let narrower = ApolloPlace(
        type: narrowest ?? place.type, place.selector, scope: scope, sources: place.sources,
        wider: place)
      return (names.lowerFirst(name), narrower)
    }
  }

  /// Finds the type conditions that select something.
  private func find(
    in selections: SelectionSetSyntax, _ type: NamedType, _ objects: Set<String>,
    _ conditions: inout [Condition]
  ) {
    var isEmpty = true
    for selection in selections.selections where names.conditions(selection.directives) != nil {
      switch selection {
      case .field(let field): if field.name.text != "__typename" { isEmpty = false }
      case .fragmentSpread: isEmpty = false
      case .inlineFragment(let inline):
        guard let type = operations.parentType(of: inline.selectionSet) else { continue }
        let inner = Set(schema.possibleTypes(of: type).map(\.name)).intersection(objects)
        if !inner.isEmpty { find(in: inline.selectionSet, type, inner, &conditions) }
      }
    }
    if !isEmpty { conditions.append(Condition(type: type, objects: objects)) }
  }

  /// The object types of a type in the order in which names have them: that of a union, or that in
  /// which graphql-js finds them.
  private func inOrder(_ objects: [NamedType], of type: NamedType) -> [NamedType] {
    guard type.kind == .interface, objects.count > 1 else { return objects }
    let wanted = Set(objects.map(\.name))
    var found: [NamedType] = []
    var seen: Set<String> = []
    let roots = [schema.queryType, schema.mutationType, schema.subscriptionType].compactMap { $0 }
    // The next one last.
    var pending = Array((roots + schema.types).reversed())
    while let type = pending.popLast() {
      guard seen.insert(type.name).inserted else { continue }
      if wanted.contains(type.name) { found.append(type) }
      let names = type.members + (type.kind == .object ? type.interfaces : [])
      let types =
        names.compactMap(schema.type(named:)) + type.fields.compactMap { schema.type(in: $0.type) }
      pending += types.reversed()
    }
    return found
  }
}
