// Primary keys as values, and queries for the object that has one.

/// The type of an entity's primary key: of its one key field, or a ``CompositeKey`` of all of them.
///
/// It is the entity's `ID`. Fields of schemas have types that conform; programs do not add conformances.
public protocol PrimaryKey: Hashable, Sendable {
  /// What the key's fields hold for this key, for Dflat; nil if one of them cannot hold its value, so that no object has the key.
  /// - Parameter fields: The fields of the key.
  func _keyValues(in fields: ArraySlice<FieldDescriptor>) -> KeyValues?
}

extension PrimaryKey where Self: QueryValue {
  /// What the first of the fields holds for this value, for Dflat.
  @inlinable
  public func _keyValues(in fields: ArraySlice<FieldDescriptor>) -> KeyValues? {
    guard let field = fields.first else { return nil }
    return field.stored(self).map { KeyValues(first: $0, rest: []) }
  }
}

extension CompositeKey: PrimaryKey where repeat each Part: PrimaryKey {
  /// What the fields hold for the parts, for Dflat.
  @inlinable
  public func _keyValues(in fields: ArraySlice<FieldDescriptor>) -> KeyValues? {
    var values: [Value] = []
    for part in repeat each parts {
      guard let value = part._keyValues(in: fields.dropFirst(values.count)) else { return nil }
      values.append(value.first)
    }
    return KeyValues(first: values.removeFirst(), rest: values)
  }
}

extension Query {
  /// Asks for the object with a primary key; nil if no object can have it.
  init?<Key: PrimaryKey>(_ schema: EntitySchema, _ key: Key) {
    guard let key = key._keyValues(in: schema.primaryKey[...]) else { return nil }
    func isEqual(_ index: Int, _ value: Value) -> Node {
      let field = schema.primaryKey[index]
      return .comparison(.equal, .field(field), .constant(value, field.type), field.type)
    }
    let first = isEqual(0, key.first)
    let rest = key.rest.enumerated().map { isEqual($0 + 1, $1) }
    self.init(schema: schema, condition: rest.isEmpty ? first : .and([first] + rest))
  }
}
