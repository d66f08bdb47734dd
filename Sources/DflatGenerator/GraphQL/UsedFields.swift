// UsedFields: the fields that a program's operations select at an entity or below it.
//
// Fields are collected by the type of which they are selected. Each selection set is visited at
// most twice, outside and inside an entity, so the work is linear in the texts, and fragments that
// use each other need no stack.

import GraphQLSchema

struct UsedFields {
  private let schema: GraphQLSchema.Schema
  /// The names of the fields, by the type of which they are selected.
  private var selected: [String: Set<String>] = [:]
  /// Whether any selection is at the entity.
  private(set) var reachesEntity = false

  /// Whether nothing is selected of the entity, nor of what is below it.
  var isEmpty: Bool { selected.isEmpty && !reachesEntity }

  /// A selection set to visit.
  private struct Visit: Hashable {
    let selections: ObjectIdentifier
    let isInside: Bool
  }

  init(of entity: NamedType, in operations: Operations) {
    schema = operations.schema
    var seen: Set<Visit> = []
    var pending: [(SelectionSetSyntax, Bool)] = []
    func visit(_ selections: SelectionSetSyntax, isInside: Bool) {
      let visit = Visit(selections: ObjectIdentifier(selections), isInside: isInside)
      if seen.insert(visit).inserted { pending.append((selections, isInside)) }
    }
    for operation in operations.operations { visit(operation.selectionSet, isInside: false) }
    while let (selections, isBelow) = pending.popLast() {
      guard let parent = operations.parentType(of: selections) else { continue }
      let isInside = isBelow || schema.isSubtype(parent, of: entity)
      // An object of another type may be the entity; the fields that it has are the entity's then.
      let bearers = isInside ? [] : bearers(of: entity, in: parent)
      if isInside && !isBelow { reachesEntity = true }
      for selection in selections.selections {
        switch selection {
        case .field(let field):
          let name = field.name.text
          var isIn = isInside
          if isInside {
            insert(name, in: parent.name)
          }
          for bearer in bearers where bearer.field(named: name) != nil {
            insert(name, in: bearer.name)
            isIn = true
          }
          if let inner = field.selectionSet { visit(inner, isInside: isIn) }
        case .inlineFragment(let fragment):
          visit(fragment.selectionSet, isInside: isInside)
        case .fragmentSpread(let spread):
          guard let fragment = operations.fragment(of: spread) else { continue }
          visit(fragment.selectionSet, isInside: isInside)
        }
      }
    }
  }

  /// The types of an entity whose objects can be selected as `parent`: the entity itself if all of
  /// its objects can, otherwise some of the objects of an interface or union.
  private func bearers(of entity: NamedType, in parent: NamedType) -> [NamedType] {
    if schema.isSubtype(entity, of: parent) { return [entity] }
    guard entity.isAbstract, parent.isAbstract, schema.overlap(entity, parent) else { return [] }
    return schema.possibleTypes(of: entity).filter { schema.isPossible($0, in: parent) }
  }

  private mutating func insert(_ field: String, in type: String) {
    // Introspection is not a part of the data.
    if !field.hasPrefix("__") { selected[type, default: []].insert(field) }
  }

  /// The used fields of an object or interface by name: those selected of it, and those selected of
  /// the interfaces that it implements.
  func fields(of type: NamedType) -> [OutputField] {
    var names = selected[type.name] ?? []
    for interface in type.interfaces { names.formUnion(selected[interface] ?? []) }
    return names.sorted().compactMap(type.field(named:))
  }
}
