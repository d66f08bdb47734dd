// AddedKeys: the keys of entities that operations do not select.
//
// Without its key an object cannot be stored, and a reference to it neither. So where an operation
// selects something of an entity, the key is selected with it, in the document that is sent and in
// the data. The schemas of entities depend on what the operations say, not on this.

import DflatSchema
import GraphQLSchema

struct AddedKeys {
  /// A field that is added to a selection set.
  struct AddedKey {
    /// The type condition of a fragment around it; nil if it is selected of the set's own type.
    let condition: String?
    let field: FieldSyntax
    let definition: OutputField
  }

  private var keys: [ObjectIdentifier: [AddedKey]] = [:]

  /// The keys that are added to a selection set.
  subscript(set: SelectionSetSyntax) -> [AddedKey] { keys[ObjectIdentifier(set)] ?? [] }

  init(to operations: Operations, of entities: [EntityTables], _ possibleTypes: PossibleTypes) {
    let entities = entities.filter { $0.key != nil }
    if entities.isEmpty { return }
    let finder = KeyFinder(
      operations: operations, schema: operations.schema, entities: entities,
      possibleTypes: possibleTypes)
    var pending =
      operations.operations.map(\.selectionSet) + operations.fragments.map(\.selectionSet)
    while let set = pending.popLast() {
      for selection in set.selections {
        switch selection {
        case .field(let field):
          guard let inner = field.selectionSet else { continue }
          pending.append(inner)
          // What fragments select of the object is found from here.
          guard let type = operations.type(of: field) else { continue }
          let missing = finder.missing(in: inner, of: type)
          if !missing.isEmpty { keys[ObjectIdentifier(inner)] = missing }
        case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
        case .fragmentSpread: break
        }
      }
    }
  }
}

/// Finds the keys that are not selected of an object.
private struct KeyFinder {
  let operations: Operations
  let schema: GraphQLSchema.Schema
  let entities: [EntityTables]
  let possibleTypes: PossibleTypes

  /// What is selected of an object, also in fragments.
  private struct Found {
    /// The object types of which the key is always selected.
    var covered: Set<String> = []
    /// Whether anything but `__typename` is selected of the objects that are wanted.
    var hasFields = false
    /// Whether the key's name is the name of something else in the response.
    var isTaken = false
  }

  private struct Visit: Hashable {
    let fragment: String
    let types: Set<String>
    let isConditional: Bool
  }

  func missing(in set: SelectionSetSyntax, of type: NamedType) -> [AddedKeys.AddedKey] {
    let possible = possibleTypes.set(of: type)
    var added: [AddedKeys.AddedKey] = []
    var given: [String: Set<String>] = [:]
    for entity in entities {
      guard let name = entity.key?.name else { continue }
      let wanted = possible.intersection(entity.types)
      if wanted.isEmpty { continue }
      let found = scan(set, of: type, possible, name, wanted)
      let missing = wanted.subtracting(found.covered).subtracting(given[name] ?? [])
      if missing.isEmpty || !found.hasFields || found.isTaken { continue }
      func add(_ name: String, of bearer: NamedType, _ condition: String?) -> Bool {
        guard let definition = bearer.field(named: name),
          definition.arguments.allSatisfy({ !$0.isRequired })
        else { return false }
        let field = FieldSyntax(adding: name, to: set)
        added.append(
          AddedKeys.AddedKey(condition: condition, field: field, definition: definition))
        given[name, default: []].formUnion(
          condition == nil ? possible : possibleTypes.set(of: bearer))
        return true
      }
      if add(name, of: type, nil) { continue }
      if let bearer = schema.type(named: entity.name), add(name, of: bearer, entity.name) {
        continue
      }
      for type in possibleTypes.names(of: type) where missing.contains(type) {
        if let bearer = schema.type(named: type) { _ = add(name, of: bearer, type) }
      }
    }
    return added
  }

  /// Finds what a set selects of an object, also in fragments. These may use each other in a long
  /// chain, so they are not followed by recursion.
  /// - Parameter wanted: The object types that are stored by this key.
  private func scan(
    _ set: SelectionSetSyntax, of type: NamedType, _ types: Set<String>, _ key: String,
    _ wanted: Set<String>
  ) -> Found {
    func narrowed(_ types: Set<String>, to condition: String?) -> Set<String> {
      guard let narrowing = condition.flatMap(schema.type(named:)),
        !schema.isSubtype(type, of: narrowing)
      else { return types }
      return types.intersection(possibleTypes.set(of: narrowing))
    }
    var found = Found()
    var seen: Set<Visit> = []
    var pending = [(set: set, types: types, isConditional: false)]
    while let next = pending.popLast() {
      for selection in next.set.selections {
        let isConditional =
          next.isConditional || selection.directives.contains(where: Self.isCondition)
        switch selection {
        case .field(let field):
          if field.name.text != "__typename", !next.types.isDisjoint(with: wanted) {
            found.hasFields = true
          }
          if field.name.text == key {
            if !isConditional { found.covered.formUnion(next.types) }
          } else if field.responseKey == key {
            found.isTaken = true
          }
        case .inlineFragment(let fragment):
          let types = narrowed(next.types, to: fragment.typeCondition?.text)
          pending.append((fragment.selectionSet, types, isConditional))
        case .fragmentSpread(let spread):
          guard let fragment = operations.fragment(of: spread) else { continue }
          let types = narrowed(next.types, to: fragment.typeCondition.text)
          let visit = Visit(
            fragment: fragment.name.text, types: types, isConditional: isConditional)
          if seen.insert(visit).inserted {
            pending.append((fragment.selectionSet, types, isConditional))
          }
        }
      }
    }
    return found
  }

  private static func isCondition(_ directive: DirectiveSyntax) -> Bool {
    let isSkip = directive.name.text == "skip"
    guard isSkip || directive.name.text == "include", let value = directive.argument("if")?.value
    else { return false }
    if case .boolean(let literal) = value.kind { return literal == isSkip }
    return true
  }
}
