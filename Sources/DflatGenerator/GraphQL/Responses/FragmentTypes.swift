// FragmentTypes: the structures of a program's fragments, and their names.
//
// Where a fragment selects nothing but another fragment of an object, the object has the other's
// structure. So what is declared grows with the fragments, however they are nested.

import GraphQLSchema

struct FragmentTypes {
  /// The structure of a fragment.
  struct FragmentType {
    let syntax: FragmentSyntax
    /// The name in Swift.
    let name: String
    /// What the fragment selects.
    let object: SelectedObject
  }

  /// By the names of the fragments.
  private(set) var types: [String: FragmentType] = [:]

  /// No fragment has a structure.
  init() {}

  /// All fragments have structures.
  /// - Parameters:
  ///   - taken: The names that they do not get.
  ///   - select: What a selection set selects of a type.
  init(
    _ operations: Operations, avoiding taken: Set<String>,
    select: (NamedType, SelectionSetSyntax) -> SelectedObject
  ) {
    // A structure inside of another one would hide it.
    let taken = taken.union(Self.innerNames(operations))
    let fragments = operations.fragments
    let cased = fragments.map { NameCase.pascal($0.name.text) }
    var counts: [String: Int] = [:]
    for name in cased { counts[name, default: 0] += 1 }
    var used: Set<String> = []
    for (fragment, cased) in zip(fragments, cased) {
      let text = fragment.name.text
      var name = counts[cased] == 1 ? cased : text.prefix(1).uppercased() + text.dropFirst()
      if taken.contains(name) || name.allSatisfy({ $0 == "_" }) { name += "Fragment" }
      while taken.contains(name) || used.contains(name) { name += "_" }
      used.insert(name)
      guard let type = operations.schema.type(named: fragment.typeCondition.text) else { continue }
      types[text] = FragmentType(
        syntax: fragment, name: name, object: select(type, fragment.selectionSet))
    }
    for type in types.values { type.object.isFragment = true }
    for type in types.values { share(in: type.object) }
  }

  /// Replaces the objects of which only a fragment is selected. The collector limits the depth.
  private func share(in object: SelectedObject) {
    for index in object.fields.indices {
      guard let inner = object.fields[index].object else { continue }
      if let type = inner.onlyFragment.flatMap({ types[$0] }) {
        object.fields[index].object = type.object
      } else {
        share(in: inner)
      }
    }
    for view in object.views { share(in: view.object) }
  }

  /// The names that structures inside of others may have.
  private static func innerNames(_ operations: Operations) -> Set<String> {
    var names: Set<String> = []
    operations.forEachObject { _, field, _ in
      let key = field.responseKey
      for name in [key, Singular.of(key)].map(NameCase.pascal) {
        names.formUnion([name, name + "Object"])
      }
    }
    return names.union(operations.schema.types.map { "As" + NameCase.pascal($0.name) })
  }
}
