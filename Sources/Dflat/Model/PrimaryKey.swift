// Primary keys as values.

/// The type of an entity's primary key: of its one key field, or a ``CompositeKey`` of all of them.
///
/// It is the entity's `ID`. The types of schema fields conform; programs do not add conformances.
public protocol PrimaryKey: Hashable, Sendable {
  /// The values of the key's fields, for Dflat; nil if a field cannot store its value, so that no
  /// object has the key.
  /// - Parameter fields: The fields of the key.
  func _keyValues(in fields: ArraySlice<FieldDescriptor>) -> KeyValues?
}

extension PrimaryKey where Self: QueryValue {
  /// The value of the key's single field, for Dflat.
  @inlinable
  public func _keyValues(in fields: ArraySlice<FieldDescriptor>) -> KeyValues? {
    guard let field = fields.first else { return nil }
    return field.stored(self).map { KeyValues(first: $0, rest: []) }
  }
}

extension CompositeKey: PrimaryKey where repeat each Part: PrimaryKey {
  /// The values of the key's fields, for Dflat.
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
