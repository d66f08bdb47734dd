// AddedKeys: the keys of entities that operations do not select.
//
// Without its key an object cannot be stored, and a reference to it neither. So where an operation
// selects something of an entity, the key is selected with it, in the document that is sent and in
// the data. That holds for entities on the way to a key, too. The schemas of entities depend on
// what the operations say, not on this.

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
  /// What the fields of objects are called in responses.
  private var names = ResponseKeys()
  /// The types of the selection sets that no document has.
  private var parents: [ObjectIdentifier: NamedType] = [:]

  /// The keys that are added to a selection set.
  subscript(set: SelectionSetSyntax) -> [AddedKey] { keys[ObjectIdentifier(set)] ?? [] }

  /// The type of which a selection set selects that is itself added.
  func parentType(of set: SelectionSetSyntax) -> NamedType? { parents[ObjectIdentifier(set)] }

  /// - Parameter isIncremental: Whether deferred fragments come later than the others.
  init(
    to operations: Operations, of entities: [EntityTables], _ possibleTypes: PossibleTypes,
    isIncremental: Bool
  ) {
    let entities = entities.filter(\.isStored)
    if entities.isEmpty { return }
    let finder = KeyFinder(
      operations: operations, schema: operations.schema, entities: entities,
      possibleTypes: possibleTypes, isIncremental: isIncremental)
    names = ResponseKeys(of: operations)
    operations.forEachObject { definition, field, inner in
      // What fragments select of the object is found from here.
      guard let type = operations.type(of: field) else { return }
      let place = ResponseKeys.Place(definition: definition, object: field.responseKey)
      finder.addMissing(to: inner, of: type, place, in: &self)
    }
  }

  /// Adds a field to a selection set, once.
  /// - Parameters:
  ///   - place: Where the set selects of objects.
  ///   - isObject: Whether something of the field's value is selected.
  /// - Returns: The field that the set has.
  fileprivate mutating func add(
    _ name: String, _ definition: OutputField, to set: SelectionSetSyntax,
    _ place: ResponseKeys.Place, _ condition: String?, isObject: Bool,
    in schema: GraphQLSchema.Schema
  ) -> FieldSyntax {
    let same = self[set].first { $0.condition == condition && $0.field.name.text == name }
    if let same { return same.field }
    let alias = names.alias(of: definition, in: place, schema)
    let field = FieldSyntax(adding: name, alias: alias, to: set, isObject: isObject)
    keys[ObjectIdentifier(set), default: []].append(
      AddedKey(condition: condition, field: field, definition: definition))
    if let inner = field.selectionSet {
      parents[ObjectIdentifier(inner)] = schema.type(in: definition.type)
    }
    return field
  }
}

/// Finds the keys that are not selected of an object.
private struct KeyFinder {
  let operations: Operations
  let schema: GraphQLSchema.Schema
  let entities: [EntityTables]
  let possibleTypes: PossibleTypes
  let isIncremental: Bool

  /// What is selected of an object, also in fragments.
  private struct Found {
    /// The object types of which the field is always selected.
    var covered: Set<String> = []
    /// What is always selected of the field's value.
    var inner: [(place: ResponseKeys.Place, set: SelectionSetSyntax)] = []
    /// Whether anything but `__typename` is selected of the objects that are wanted.
    var hasFields = false
  }

  private struct Visit: Hashable {
    let fragment: String
    let types: Set<String>
    let isConditional: Bool
  }

  /// Adds the keys that are not selected of an object.
  /// - Parameters:
  ///   - place: Where the set selects of the object.
  ///   - outer: The types of the objects around it of whose keys it is a part. A key that comes
  ///     back to one of them has no end.
  func addMissing(
    to set: SelectionSetSyntax, of type: NamedType, _ place: ResponseKeys.Place,
    inside outer: Set<String> = [],
    in added: inout AddedKeys
  ) {
    if outer.contains(type.name) { return }
    let possible = possibleTypes.set(of: type)
    var given: [ArraySlice<String>: Set<String>] = [:]
    for entity in entities {
      let wanted = possible.intersection(entity.types)
      if wanted.isEmpty { continue }
      for path in entity.keys.map(\.part.path) {
        // Every object of an interface or union has the name of its type anyhow.
        if path == ["__typename"], type.isAbstract { continue }
        add(path[...], of: entity, to: set, place, type, wanted, &given, inside: outer, in: &added)
      }
    }
  }

  /// Adds a field of an entity's key, if it is not selected.
  /// - Parameter outer: The types of the objects around it of whose keys it is a part.
  private func add(
    _ path: ArraySlice<String>, of entity: EntityTables, to set: SelectionSetSyntax,
    _ place: ResponseKeys.Place, _ type: NamedType, _ wanted: Set<String>,
    _ given: inout [ArraySlice<String>: Set<String>],
    inside outer: Set<String>, in added: inout AddedKeys
  ) {
    guard let name = path.first else { return }
    let possible = possibleTypes.set(of: type)
    let found = scan(set, in: place.definition, of: type, possible, name, wanted)
    if !found.hasFields && outer.isEmpty { return }
    let rest = path.dropFirst()
    let inside = outer.union([type.name])
    func addRest(to inner: SelectionSetSyntax, _ place: ResponseKeys.Place, _ type: NamedType) {
      if rest.isEmpty { return }
      var given: [ArraySlice<String>: Set<String>] = [:]
      add(
        rest, of: entity, to: inner, place, type, possibleTypes.set(of: type), &given,
        inside: inside, in: &added)
      addMissing(to: inner, of: type, place, inside: inside, in: &added)
    }
    // What is selected of an object anyhow gets the rest.
    for (place, inner) in found.inner {
      if let type = operations.parentType(of: inner) { addRest(to: inner, place, type) }
    }
    let missing = wanted.subtracting(found.covered).subtracting(given[path] ?? [])
    if missing.isEmpty && !wanted.isEmpty { return }
    func select(from bearer: NamedType, _ condition: String?) -> Bool {
      guard let definition = schema.field(named: name, in: bearer),
        definition.arguments.allSatisfy({ !$0.isRequired })
      else { return false }
      let field = added.add(
        name, definition, to: set, place, condition, isObject: !rest.isEmpty, in: schema)
      given[path, default: []].formUnion(
        condition == nil ? possible : possibleTypes.set(of: bearer))
      if let inner = field.selectionSet, let type = schema.type(in: definition.type) {
        let place = ResponseKeys.Place(
          definition: place.definition, object: field.responseKey)
        addRest(to: inner, place, type)
      }
      return true
    }
    if select(from: type, nil) { return }
    if let bearer = schema.type(named: entity.name), select(from: bearer, entity.name) { return }
    for type in possibleTypes.names(of: type) where missing.contains(type) {
      if let bearer = schema.type(named: type) { _ = select(from: bearer, type) }
    }
  }

  /// Finds what a set selects of an object, also in fragments. These may use each other in a long
  /// chain, so they are not followed by recursion.
  /// - Parameters:
  ///   - definition: The operation or fragment that has the set.
  ///   - key: The field that is looked for.
  ///   - wanted: The object types that are stored by this key.
  private func scan(
    _ set: SelectionSetSyntax, in definition: ExecutableDefinition, of type: NamedType,
    _ types: Set<String>, _ key: String, _ wanted: Set<String>
  ) -> Found {
    func narrowed(_ types: Set<String>, to condition: String?) -> Set<String> {
      guard let narrowing = condition.flatMap(schema.type(named:)),
        !schema.isSubtype(type, of: narrowing)
      else { return types }
      return types.intersection(possibleTypes.set(of: narrowing))
    }
    var found = Found()
    var seen: Set<Visit> = []
    var pending = [(set: set, definition: definition, types: types, isConditional: false)]
    while let next = pending.popLast() {
      for selection in next.set.selections {
        let isConditional =
          next.isConditional || selection.directives.contains(where: isCondition)
        switch selection {
        case .field(let field):
          if !field.name.text.hasPrefix("__"), !next.types.isDisjoint(with: wanted) {
            found.hasFields = true
          }
          if field.name.text == key, !isConditional {
            found.covered.formUnion(next.types)
            if let inner = field.selectionSet {
              let place = ResponseKeys.Place(
                definition: next.definition, object: field.responseKey)
              found.inner.append((place, inner))
            }
          }
        case .inlineFragment(let fragment):
          let types = narrowed(next.types, to: fragment.typeCondition?.text)
          pending.append((fragment.selectionSet, next.definition, types, isConditional))
        case .fragmentSpread(let spread):
          guard let fragment = operations.fragment(of: spread) else { continue }
          let types = narrowed(next.types, to: fragment.typeCondition.text)
          let visit = Visit(
            fragment: fragment.name.text, types: types, isConditional: isConditional)
          if seen.insert(visit).inserted {
            let definition = ExecutableDefinition(fragment)
            pending.append((fragment.selectionSet, definition, types, isConditional))
          }
        }
      }
    }
    return found
  }

  /// Whether a directive may leave out what it stands at, or make it come later.
  private func isCondition(_ directive: DirectiveSyntax) -> Bool {
    if isIncremental, directive.name.text == "defer" {
      if case .boolean(false)? = directive.argument("if")?.value.kind { return false }
      return true
    }
    let isSkip = directive.name.text == "skip"
    guard isSkip || directive.name.text == "include", let value = directive.argument("if")?.value
    else { return false }
    if case .boolean(let literal) = value.kind { return literal == isSkip }
    return true
  }
}
