// The names of relations in conditions: `Task.owner == me`, `Task.tags.contains(urgent)`.

public import Dflat

/// The name of a relation to one value in conditions.
public struct ToOneProperty<Target: Persistable, Root: Atom>: QueryReference {
  let field: Field<Target.ID._Key, Root>

  /// Whether there is no related value. Never unknown.
  public var isNull: Condition<Root> { field.isNull }
  /// Whether there is a related value, stored or not. Never unknown.
  public var isNotNull: Condition<Root> { field.isNotNull }

  /// Whether the related value has one of these ids.
  public func `in`(_ ids: some Sequence<Target.ID>) -> Condition<Root> {
    field.in(ids.map { $0._key })
  }

  /// Whether the related value has this id.
  public static func == (lhs: ToOneProperty, rhs: Target.ID) -> Condition<Root> {
    lhs.field == rhs._key
  }
  /// Whether the related value has this value's id.
  public static func == (lhs: ToOneProperty, rhs: Target) -> Condition<Root> { lhs == rhs.id }
  /// Whether the related value has this item's id.
  public static func == (lhs: ToOneProperty, rhs: RelatedItem<Target>) -> Condition<Root> {
    lhs == rhs.id
  }
  /// Whether the related value has another id.
  public static func != (lhs: ToOneProperty, rhs: Target.ID) -> Condition<Root> {
    lhs.field != rhs._key
  }
  /// Whether the related value has another id than this value.
  public static func != (lhs: ToOneProperty, rhs: Target) -> Condition<Root> { lhs != rhs.id }
  /// Whether the related value has another id than this item.
  public static func != (lhs: ToOneProperty, rhs: RelatedItem<Target>) -> Condition<Root> {
    lhs != rhs.id
  }
}

/// The name of a relation to several values in conditions.
public struct ToManyProperty<Target: Persistable, Root: Atom>: QueryElements {
  let vector: VectorField<Target.ID._Key, Root>

  /// The number of related values.
  public var count: Field<Int, Root> { vector.count }

  /// Whether the value with this id is related.
  public func contains(id: Target.ID) -> Condition<Root> { vector.contains(id._key) }
  /// Whether this value is related.
  public func contains(_ value: Target) -> Condition<Root> { contains(id: value.id) }
  /// Whether this item is related.
  public func contains(_ item: RelatedItem<Target>) -> Condition<Root> { contains(id: item.id) }

  /// Whether a value with one of these ids is related.
  public func containsAny(of ids: some Sequence<Target.ID>) -> Condition<Root> {
    let keys = ids.map { $0._key }
    return vector.any { $0.in(keys) }
  }
}

extension SiloQueryNames {
  /// A relation to one value.
  public static func name<V: Persistable>(
    _ type: RelatedItem<V>.Type, _ slot: Int
  ) -> ToOneProperty<V, Root> {
    ToOneProperty(field: Field(CanonicalFields.offset(slot)))
  }

  /// A relation to one value, or none.
  public static func name<V: Persistable>(
    _ type: RelatedItem<V>?.Type, _ slot: Int
  ) -> ToOneProperty<V, Root> {
    ToOneProperty(field: Field(CanonicalFields.offset(slot)))
  }

  /// An unordered relation to several values.
  public static func name<V: Persistable>(
    _ type: RelatedItems<V>.Type, _ slot: Int
  ) -> ToManyProperty<V, Root> {
    ToManyProperty(vector: VectorField(CanonicalFields.offset(slot)))
  }

  /// An ordered relation to several values.
  public static func name<V: Persistable>(
    _ type: RelatedList<V>.Type, _ slot: Int
  ) -> ToManyProperty<V, Root> {
    ToManyProperty(vector: VectorField(CanonicalFields.offset(slot)))
  }
}
