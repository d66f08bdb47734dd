// The keys of entities, and of the tables of interfaces and unions.

import GraphQLSchema

extension EntityModeler {
  /// What identifies objects of a type. Objects of the entity have its own key.
  func key(of type: NamedType) -> EntityKey? {
    options.key(of: schema.isSubtype(type, of: entity) ? entity : type, in: schema)
  }

  /// The types of the key's fields in the table of the root, an interface or a union.
  func keyTypes(of type: NamedType) -> [String] {
    let own = keys[entity.name] ?? ["string"]
    guard type.name != entity.name, let key = key(of: type) else { return own }
    let entityKey = options.key(of: entity, in: schema)
    return key.parts.map { part in
      if let leaf = part.leaf(in: type, schema) { return storedType(ofKey: leaf) }
      let same = entityKey?.parts.firstIndex(of: part)
      let usual = same.map { own[$0] } ?? (key.parts.count == 1 ? own[0] : "string")
      // An interface or union without the field has the key of its types, which is a text unless
      // all of them have the usual type.
      let isUsual = schema.possibleTypes(of: type).compactMap { part.leaf(in: $0, schema) }
        .allSatisfy { storedType(ofKey: $0) == usual }
      return isUsual ? usual : "string"
    }
  }

  /// The stored type of a key of a scalar or enum. A number that operations have as a type other
  /// than an integer is stored as the text of that.
  private func storedType(ofKey leaf: NamedType) -> String {
    guard leaf.kind == .scalar else { return "string" }
    let mapping = options.mapping(leaf)
    let isStored = mapping?.form == nil || Self.integers.contains(mapping?.type ?? "")
    return isStored ? options.stored(leaf) : "string"
  }

  private static let integers: Set = [
    "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
  ]

  /// How the digest of the root says that its key, a custom scalar, is mapped to another type than
  /// `string`; empty otherwise. The GraphQL type alone does not say how the key is stored.
  var mappedKey: String {
    guard let field = usedKey, let scalar = schema.type(in: field.type), !scalar.isBuiltIn,
      let stored = keyTypes(of: entity).first, stored != "string"
    else { return "" }
    return "=\(stored)"
  }

  /// How a digest says which fields a key has.
  func text(of key: EntityKey, _ types: [String], _ separator: String = ":") -> String {
    "{"
      + zip(key.parts, types).map { "\($0.text)\(separator)\($1)" }.joined(separator: ",") + "}"
  }

  /// How a digest says which fields the key of an entity has.
  func referenceText(of entity: NamedType) -> String {
    guard let key = options.key(of: entity, in: schema) else { return "" }
    return text(of: key, keys[entity.name] ?? ["string"])
  }

  /// How the digest of an interface says that the key of an entity among its types is no text, or
  /// not that of all types.
  func memberKey(of member: NamedType) -> String {
    guard options.isEntity(member), let key = options.key(of: member, in: schema),
      let types = keys[member.name], types != ["string"] || key != options.key
    else { return "" }
    return referenceText(of: member)
  }

  /// How the digest of a reference says which key it is, if that is not the one of all types.
  func referredKey(of entity: NamedType) -> String {
    guard let key = options.key(of: entity, in: schema), key != options.key else { return "" }
    return "{\(key.text)}"
  }
}
