// NamedTypes: what generated code asks of types that a frozen shape has only the names of.
//
// The shape of such a type protects what is stored. A plain type has none, so another name of it,
// as a typealias is, could change its meaning without notice.

extension SiloChecks {
  /// Accepts a struct or an enum of the program: its own shape protects what it stores.
  public static func named<Value: PersistableStruct>(_ type: Value.Type) {}

  /// Accepts an enum of the program: its own shape protects what it stores.
  public static func named<Value: PersistableTextEnum>(_ type: Value.Type) {}

  /// Accepts an enum of the program: its own shape protects what it stores.
  public static func named<Value: PersistableNumberEnum>(_ type: Value.Type) {}

  /// Refuses another name of a relation.
  @available(
    *, unavailable,
    message:
      "silos follow a relation only if it is a property of the '@Persistable' struct and its type is spelled RelatedItem, RelatedItems or RelatedList, without a typealias; elsewhere store the id"
  )
  public static func named<Value: StoredRelation>(_ type: Value.Type) {}

  /// Refuses another name of a plain type.
  @available(
    *, unavailable,
    message:
      "this is another name for a plain type, so the shape does not protect what is stored; write what the name stands for into the shape, as S for String, or spell the type itself"
  )
  @_disfavoredOverload
  public static func named<Value: PersistablePart>(_ type: Value.Type) {}

  /// Refuses a type that cannot be stored.
  @available(
    *, unavailable,
    message:
      "values of this type cannot be stored; write '@PersistableValue' before its declaration, if it is a struct or an enum, or '@Ignored' before the property"
  )
  @_disfavoredOverload
  public static func named<Value>(_ type: Value.Type) {}
}

extension CanonicalSchema {
  /// The table of a value without the version. For generated code.
  public static func name<Value: Persistable>(of type: Value.Type) -> String {
    type._canonical.name
  }
}
