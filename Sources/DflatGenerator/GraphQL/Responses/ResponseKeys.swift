// ResponseKeys: what fields are called in responses, where others are added to them.
//
// Two fields with the same key in one object of a response must be the same field with the same
// arguments, and of the same type. Objects in different places of a document are one object of the
// response only if they have the same key themselves. So a name is looked for among the fields of
// all objects with that key, in all operations.

import GraphQLSchema

struct ResponseKeys {
  /// What a field must be to share a key with another one.
  private struct Meaning: Hashable {
    let name: String
    let hasArguments: Bool
    let type: String
  }

  private struct Visit: Hashable {
    let fragment: String
    let object: String
  }

  /// The fields of the objects with a key, by their own keys.
  private var meanings: [String: [String: Set<Meaning>]] = [:]

  init() {}

  init(of operations: Operations) {
    var seen: Set<Visit> = []
    operations.forEachObject { field, inner in
      var pending = [inner]
      while let set = pending.popLast() {
        for selection in set.selections {
          switch selection {
          case .field(let inner): note(inner, in: field.responseKey, operations)
          case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
          case .fragmentSpread(let spread):
            let visit = Visit(fragment: spread.name.text, object: field.responseKey)
            if seen.insert(visit).inserted, let fragment = operations.fragment(of: spread) {
              pending.append(fragment.selectionSet)
            }
          }
        }
      }
    }
  }

  private mutating func note(_ field: FieldSyntax, in object: String, _ operations: Operations) {
    guard let definition = operations.definition(of: field) else { return }
    meanings[object, default: [:]][field.responseKey, default: []].insert(
      Meaning(
        name: field.name.text, hasArguments: !field.arguments.isEmpty,
        type: Self.shape(of: definition, operations.schema)))
  }

  /// The alias that a field needs if it is selected, without arguments, of an object with a key;
  /// nil if it needs none. The field has that key from now on.
  mutating func alias(
    of field: OutputField, in object: String, _ schema: GraphQLSchema.Schema
  ) -> String? {
    let meaning = Meaning(
      name: field.name, hasArguments: false, type: Self.shape(of: field, schema))
    var names = meanings[object] ?? [:]
    func isFree(_ key: String) -> Bool { names[key].map { $0 == [meaning] } ?? true }
    var key = field.name
    var number = 1
    while !isFree(key) {
      key = "key_\(field.name)" + (number == 1 ? "" : "\(number)")
      number += 1
    }
    names[key] = [meaning]
    meanings[object] = names
    return key == field.name ? nil : key
  }

  /// What must be equal in the types of two fields: for objects, which may be of different types,
  /// only lists and whether null is allowed.
  private static func shape(of field: OutputField, _ schema: GraphQLSchema.Schema) -> String {
    let type = "\(field.type)"
    guard schema.type(in: field.type)?.isComposite == true else { return type }
    return type.replacing(field.type.name, with: "")
  }
}
