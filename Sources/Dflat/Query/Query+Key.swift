// Queries for the object with a given primary key.

extension Query {
  /// A query for the object with a primary key; nil if no object can have that key.
  init?<Key: PrimaryKey>(_ schema: EntitySchema, _ key: Key) {
    guard let key = key._keyValues(in: schema.primaryKey[...]) else { return nil }
    self.init(schema, key)
  }

  /// A query for the object with a primary key.
  init(_ schema: EntitySchema, _ key: KeyValues) {
    func isEqual(_ index: Int, _ value: Value) -> Node {
      Equality(schema.primaryKey[index], value).node
    }
    let first = isEqual(0, key.first)
    let rest = key.rest.enumerated().map { isEqual($0 + 1, $1) }
    self.init(schema: schema, condition: rest.isEmpty ? first : .and(NodeParts([first] + rest)))
  }
}
