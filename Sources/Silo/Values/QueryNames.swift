// QueryNames: the names of properties in conditions, `Task.title`, chosen by the properties' types.

public import Dflat
public import Foundation

/// Makes the names of properties in conditions. For generated code.
public enum SiloQueryNames<Root: Atom> {
  /// A number, Bool, string, date or enum.
  public static func name<P: PersistableProperty & QueryValue>(
    _ type: P.Type, _ slot: Int
  ) -> Field<P, Root> { Field(CanonicalFields.offset(slot)) }

  /// A struct.
  public static func name<P: PersistableStruct>(
    _ type: P.Type, _ slot: Int
  ) -> NestedProperty<P, Root> {
    NestedProperty(Reference(CanonicalFields.offset(slot)))
  }

  /// An optional.
  public static func name<P: PersistableProperty & QueryValue>(
    _ type: P?.Type, _ slot: Int
  ) -> Field<P, Root> { Field(CanonicalFields.offset(slot)) }

  /// An optional struct.
  public static func name<P: PersistableStruct>(
    _ type: P?.Type, _ slot: Int
  ) -> NestedProperty<P, Root> {
    NestedProperty(Reference(CanonicalFields.offset(slot)))
  }

  /// An array of numbers, strings, dates or enums.
  public static func name<P: PersistableProperty & QueryValue>(
    _ type: [P].Type, _ slot: Int
  ) -> VectorField<P, Root> { VectorField(CanonicalFields.offset(slot)) }

  /// A set of numbers, strings, dates or enums.
  public static func name<P: PersistableProperty & QueryValue>(
    _ type: Set<P>.Type, _ slot: Int
  ) -> VectorField<P, Root> { VectorField(CanonicalFields.offset(slot)) }

  /// An array of structs.
  public static func name<P: PersistableStruct>(
    _ type: [P].Type, _ slot: Int
  ) -> NestedElements<P, Root> {
    NestedElements(VectorReference(CanonicalFields.offset(slot)))
  }

  /// A set of structs.
  public static func name<P: PersistableStruct>(
    _ type: Set<P>.Type, _ slot: Int
  ) -> NestedElements<P, Root> {
    NestedElements(VectorReference(CanonicalFields.offset(slot)))
  }

  /// The bytes of data.
  public static func name(_ type: Data.Type, _ slot: Int) -> VectorField<UInt8, Root> {
    VectorField(CanonicalFields.offset(slot))
  }

  /// An array of other collections.
  public static func name<P: PersistableProperty>(
    _ type: [P].Type, _ slot: Int
  ) -> CountedProperty<[P], Root> {
    CountedProperty(vector: VectorReference(CanonicalFields.offset(slot)))
  }

  /// A dictionary.
  public static func name<K: PersistableKey, P: PersistableProperty>(
    _ type: [K: P].Type, _ slot: Int
  ) -> CountedProperty<[K: P], Root> {
    CountedProperty(vector: VectorReference(CanonicalFields.offset(slot)))
  }

  /// A property that conditions cannot be about.
  @_disfavoredOverload
  public static func name<P: PersistableProperty>(
    _ type: P.Type, _ slot: Int
  ) -> OpaqueProperty<P, Root> { OpaqueProperty() }

  /// An id of one part.
  public static func name<ID: PersistableID>(
    id type: ID.Type, _ slot: Int
  ) -> Field<ID, Root> where ID._Key == ID { Field(CanonicalFields.offset(slot)) }

  /// An id of several parts.
  public static func name<ID: PersistableID>(
    id type: ID.Type, _ slot: Int
  ) -> IDProperty<ID, Root> { IDProperty(Field(CanonicalFields.offset(slot))) }
}

/// The name of a struct in conditions: `User.address.city == "Paris"`.
@dynamicMemberLookup
public struct NestedProperty<Value: PersistableStruct, Root: Atom>: QueryReference {
  let reference: Reference<Value, Root>

  init(_ reference: Reference<Value, Root>) { self.reference = reference }

  /// Whether there is no such struct. Never unknown.
  public var isNull: Condition<Root> { reference.isNull }
  /// Whether there is such a struct. Never unknown.
  public var isNotNull: Condition<Root> { reference.isNotNull }

  private func offset(_ path: PartialKeyPath<Value>) -> Int {
    guard let slot = Value._slots[path] else {
      preconditionFailure("\(path) is not a stored property of \(Value.self)")
    }
    return CanonicalFields.offset(slot)
  }

  /// A property of the struct. Properties that are not stored are a programmer error.
  public subscript<P: PersistableProperty & QueryValue>(
    dynamicMember path: KeyPath<Value, P>
  ) -> Field<P, Root> { reference._field(offset(path)) }

  /// An optional property of the struct.
  public subscript<P: PersistableProperty & QueryValue>(
    dynamicMember path: KeyPath<Value, P?>
  ) -> Field<P, Root> { reference._field(offset(path)) }

  /// A struct in the struct.
  public subscript<P: PersistableStruct>(
    dynamicMember path: KeyPath<Value, P>
  ) -> NestedProperty<P, Root> { NestedProperty<P, Root>(reference._reference(offset(path))) }

  /// An optional struct in the struct.
  public subscript<P: PersistableStruct>(
    dynamicMember path: KeyPath<Value, P?>
  ) -> NestedProperty<P, Root> { NestedProperty<P, Root>(reference._reference(offset(path))) }

  /// An array in the struct.
  public subscript<P: PersistableProperty & QueryValue>(
    dynamicMember path: KeyPath<Value, [P]>
  ) -> VectorField<P, Root> { reference._vector(offset(path)) }
}

/// The name of an array or set of structs in conditions.
public struct NestedElements<Value: PersistableStruct, Root: Atom>: QueryElements {
  private let vector: VectorReference<Value, Root>

  init(_ vector: VectorReference<Value, Root>) { self.vector = vector }

  /// The number of elements.
  public var count: Field<Int, Root> { vector.count }

  /// Whether the condition holds for at least one element: `Task.steps.any { $0.title == "a" }`.
  public func any<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: NestedProperty<Value, Root>) -> C
  ) -> Condition<Root> { vector.any { condition(NestedProperty($0)) } }

  /// Whether the condition holds for each element.
  public func all<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: NestedProperty<Value, Root>) -> C
  ) -> Condition<Root> { vector.all { condition(NestedProperty($0)) } }
}

/// The name of a collection of which conditions know only the number of elements.
public struct CountedProperty<Value: PersistableProperty, Root: Atom>: QueryElements {
  private let vector: VectorReference<Value, Root>

  init(vector: VectorReference<Value, Root>) { self.vector = vector }

  /// The number of elements.
  public var count: Field<Int, Root> { vector.count }
}

/// The name of a property that conditions cannot be about.
public struct OpaqueProperty<Value: PersistableProperty, Root: Atom>: Sendable {}

/// The name of an id of several parts in conditions.
public struct IDProperty<ID: PersistableID, Root: Atom>: Sendable {
  let field: Field<ID._Key, Root>

  init(_ field: Field<ID._Key, Root>) { self.field = field }

  /// Whether the id is one of these.
  public func `in`(_ ids: some Sequence<ID>) -> Condition<Root> { field.in(ids.map { $0._key }) }

  /// Whether the id is this one.
  public static func == (lhs: IDProperty, rhs: ID) -> Condition<Root> { lhs.field == rhs._key }

  /// Whether the id is another one.
  public static func != (lhs: IDProperty, rhs: ID) -> Condition<Root> { lhs.field != rhs._key }
}
