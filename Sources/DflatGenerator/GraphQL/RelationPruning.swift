// RelationPruning: relations that schemas can have.
//
// A relation includes the schema of the other entity, and FlatBuffers refuses a field that is
// called like a table that was read before it. Services that name both after tables of a database
// have such fields: `type users { posts: [posts!]! }`. They stay what they are, keys of other
// objects, and no relations.

struct RelationPruning {
  private var models: [String: EntityModel]
  /// The names of entities that fields of each entity's schema have, where there are any.
  private let suspects: [String: Set<String>]

  /// The models without the relations that would make their schemas invalid.
  static func pruned(_ models: [EntityModel]) -> [EntityModel] {
    var pruning = RelationPruning(models)
    if pruning.suspects.isEmpty { return models }
    var isChanged = true
    while isChanged {
      isChanged = false
      for model in models {
        while let relation = pruning.harmfulRelation(of: model.entity) {
          pruning.models[model.entity]?.removeRelation(to: relation)
          isChanged = true
        }
      }
    }
    return models.map { pruning.models[$0.entity] ?? $0 }
  }

  private init(_ models: [EntityModel]) {
    self.models = Dictionary(models.map { ($0.entity, $0) }, uniquingKeysWith: { $1 })
    let names = Set(self.models.keys)
    suspects = self.models.mapValues { $0.fieldNames.intersection(names) }.filter {
      !$0.value.isEmpty
    }
  }

  /// A relation of an entity whose include leads to a field with the name of a table above it.
  private func harmfulRelation(of entity: String) -> String? {
    let relations = models[entity]?.relations ?? []
    var declared: Set<String> = []
    for relation in relations {
      // As FlatBuffers reads files: what they include comes first, each file once, and the one that
      // is being read not again.
      var read: [String] = []
      visitDepthFirst(
        [relation],
        children: { name in
          models[name]?.relations.filter { $0 != entity && !declared.contains($0) } ?? []
        },
        leave: { read.append($0) })
      for name in read where !declared.contains(name) {
        if suspects[name]?.isDisjoint(with: declared) == false { return relation }
        declared.insert(name)
      }
      if suspects[entity]?.isDisjoint(with: declared) == false { return relation }
    }
    return nil
  }
}

extension EntityModel {
  /// The entities whose schemas are included, in this order.
  fileprivate var relations: [String] {
    let names = root.fields.flatMap(\.attributes).filter { $0.name == "references" }
      .compactMap(\.value).filter { $0 != entity }
    return Set(names).sorted()
  }

  fileprivate var fieldNames: Set<String> {
    let tables = types.values.compactMap { type in
      if case .table(let table) = type { table } else { nil }
    }
    return Set((tables + [root]).flatMap(\.fields).map(\.name))
  }

  fileprivate mutating func removeRelation(to name: String) {
    for index in root.fields.indices {
      root.fields[index].attributes.removeAll { $0 == Attribute(name: "references", value: name) }
    }
    includes.removeAll { $0 == EntityModeler.fileName(of: name) }
  }
}
