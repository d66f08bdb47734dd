// ResponseKeys: what fields are called in responses, where others are added to them.
//
// Two fields with the same key in one object of a response must be the same field with the same
// arguments, and of the same type. Objects in different places of a document are one object of the
// response only if they have the same key themselves. So a name is looked for among the fields of
// all objects with that key, in every operation that has the selection: what other operations
// select makes no difference.

import GraphQLSchema

struct ResponseKeys {
  /// Where something is selected of objects.
  struct Place: Hashable {
    /// The operation or fragment with the selection.
    let definition: ExecutableDefinition
    /// The key of the objects in the response.
    let object: String
  }

  /// What a field must be to share a key with another one.
  private struct Meaning: Hashable {
    let name: String
    let hasArguments: Bool
    let type: String
  }

  private struct Visit: Hashable {
    let fragment: String
    let place: Place
  }

  /// The fields of the objects with a key, by their own keys, and where they are selected.
  private var meanings: [String: [String: [Meaning: Set<ExecutableDefinition>]]] = [:]
  private var documents: SharedDocuments?

  init() {}

  init(of operations: Operations) {
    var seen: Set<Visit> = []
    operations.forEachObject { definition, field, inner in
      let place = Place(definition: definition, object: field.responseKey)
      var pending = [inner]
      while let set = pending.popLast() {
        for selection in set.selections {
          switch selection {
          case .field(let inner): note(inner, in: place, operations)
          case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
          case .fragmentSpread(let spread):
            let visit = Visit(fragment: spread.name.text, place: place)
            if seen.insert(visit).inserted, let fragment = operations.fragment(of: spread) {
              pending.append(fragment.selectionSet)
            }
          }
        }
      }
    }
    documents = SharedDocuments(of: operations)
  }

  private mutating func note(_ field: FieldSyntax, in place: Place, _ operations: Operations) {
    guard let definition = operations.definition(of: field) else { return }
    let meaning = Meaning(
      name: field.name.text, hasArguments: !field.arguments.isEmpty,
      type: Self.shape(of: definition, operations.schema))
    note(meaning, as: field.responseKey, in: place)
  }

  private mutating func note(_ meaning: Meaning, as key: String, in place: Place) {
    meanings[place.object, default: [:]][key, default: [:]][meaning, default: []]
      .insert(place.definition)
  }

  /// The alias that a field needs if it is selected, without arguments, in a place; nil if it needs
  /// none. The field has that key from now on.
  mutating func alias(
    of field: OutputField, in place: Place, _ schema: GraphQLSchema.Schema
  ) -> String? {
    let meaning = Meaning(
      name: field.name, hasArguments: false, type: Self.shape(of: field, schema))
    var key = field.name
    var number = 1
    while !isFree(key, for: meaning, in: place) {
      key = "key_\(field.name)" + (number == 1 ? "" : "\(number)")
      number += 1
    }
    note(meaning, as: key, in: place)
    return key == field.name ? nil : key
  }

  private mutating func isFree(_ key: String, for meaning: Meaning, in place: Place) -> Bool {
    let others = meanings[place.object]?[key]?.filter { $0.key != meaning } ?? [:]
    return others.values.allSatisfy { definitions in
      documents?.definitions(with: place.definition).isDisjoint(with: definitions) ?? true
    }
  }

  /// What must be equal in the types of two fields: for objects, which may be of different types,
  /// only lists and whether null is allowed.
  private static func shape(of field: OutputField, _ schema: GraphQLSchema.Schema) -> String {
    let type = "\(field.type)"
    guard schema.type(in: field.type)?.isComposite == true else { return type }
    return type.replacing(field.type.name, with: "")
  }
}

/// The operations and fragments that are sent in one document.
private struct SharedDocuments {
  private typealias Links = [ExecutableDefinition: [ExecutableDefinition]]

  /// The fragments that each definition spreads.
  private var fragments: Links = [:]
  /// The definitions that spread each fragment.
  private var users: Links = [:]
  private var known: [ExecutableDefinition: Set<ExecutableDefinition>] = [:]

  init(of operations: Operations) {
    operations.forEachSpread { definition, fragment in
      fragments[definition, default: []].append(fragment)
      users[fragment, default: []].append(definition)
    }
  }

  /// All definitions that share a document with one, and itself.
  mutating func definitions(with definition: ExecutableDefinition) -> Set<ExecutableDefinition> {
    if let found = known[definition] { return found }
    let found = Self.reach(Self.reach([definition], users), fragments)
    known[definition] = found
    return found
  }

  private static func reach(
    _ start: Set<ExecutableDefinition>, _ links: Links
  ) -> Set<ExecutableDefinition> {
    var found = start
    var pending = Array(start)
    while let next = pending.popLast() {
      for linked in links[next] ?? [] where found.insert(linked).inserted { pending.append(linked) }
    }
    return found
  }
}
