// Primary keys as values, and queries for the object that has one.

/// The type of an entity's primary key: of its one key field, or a ``CompositeKey`` of all of them.
///
/// It is the entity's `ID`. Fields of schemas have types that conform; programs do not add conformances.
public protocol PrimaryKey: Hashable, Sendable {
  /// The values of the key's fields, for Dflat.
  var _keyValues: KeyValues { get }
}

extension PrimaryKey where Self: QueryValue {
  /// The value of the one key field, for Dflat.
  @inlinable
  public var _keyValues: KeyValues { KeyValues(first: _value, rest: []) }
}

extension CompositeKey: PrimaryKey where repeat each Part: PrimaryKey {
  /// The values of the key's fields, for Dflat.
  @inlinable
  public var _keyValues: KeyValues {
    var values: [Value] = []
    for part in repeat each parts { values.append(part._keyValues.first) }
    return KeyValues(first: values.removeFirst(), rest: values)
  }
}

extension Query {
  /// Asks for the object with a primary key.
  init(_ schema: EntitySchema, _ key: KeyValues) {
    func isEqual(_ index: Int, _ value: Value) -> Node {
      let field = schema.primaryKey[index]
      return .comparison(.equal, .field(field), .constant(value, field.type), field.type)
    }
    let first = isEqual(0, key.first)
    let rest = key.rest.enumerated().map { isEqual($0 + 1, $1) }
    self.init(schema: schema, condition: rest.isEmpty ? first : .and([first] + rest))
  }
}
