// StoredTypes: what generated code names types of properties by that only the compiler can check.
//
// A type that does not satisfy a constraint is reported where the name is declared, which is at the
// property. Where the name is used, nothing more is reported.

/// The type of a property. For generated code.
public protocol SiloPropertyType {
  /// The type.
  associatedtype Value: PersistablePart
}

extension SiloPropertyType {
  /// Writes the next property.
  @inlinable @inline(__always)
  public static func write(_ value: Value, to writer: inout CanonicalWriter) {
    writer.write(value)
  }

  /// The property in a slot; its default if it is absent.
  /// - Throws: `UnreadableValue`.
  @inlinable @inline(__always)
  public static func read(
    _ reader: CanonicalReader, _ slot: Int, default: @autoclosure () -> Value? = nil
  ) throws -> Value {
    try reader.read(slot, default: `default`())
  }
}

/// The type of a stored property. Generated code names it, so that a type that cannot be stored is
/// reported at its property.
public enum SiloStoredProperty<Value: PersistablePart>: SiloPropertyType {
  /// The type.
  public typealias Value = Value
}

/// A type whose values have an order of their own as they are stored, so that a property may have
/// an index: numbers, strings, dates, enums with raw values, and optionals of these. Relations have
/// one anyway.
public protocol IndexableProperty: PersistablePart {}

extension Optional: IndexableProperty where Wrapped: IndexableProperty {}

/// The type of a property with an index. Generated code names it, so that a type that cannot have
/// one is reported at its property.
public enum SiloIndexedProperty<Value: IndexableProperty>: SiloPropertyType {
  /// The type.
  public typealias Value = Value
}

/// Checks of properties' types whose errors say what to write. For generated code.
public enum SiloChecks {
  /// Accepts a type that can be stored.
  public static func storable<Value: PersistablePart>(_ type: Value.Type) {}

  /// Refuses any other type.
  @available(
    *, unavailable,
    message:
      "values of this type cannot be stored; write '@PersistableValue' before its declaration, if it is a struct or an enum, or '@Ignored' before the property"
  )
  @_disfavoredOverload
  public static func storable<Value>(_ type: Value.Type) {}

  /// Refuses a dictionary with values that cannot be stored.
  @available(
    *, unavailable,
    message:
      "values of this type cannot be stored; write '@PersistableValue' before its declaration, if it is a struct or an enum, or '@Ignored' before the property"
  )
  public static func storable<Key: PersistableKey, Value>(_ type: [Key: Value].Type) {}

  /// Refuses a dictionary with other keys.
  @available(
    *, unavailable,
    message:
      "the keys of a stored dictionary are strings, integers, or enums without associated values that are '@PersistableValue'; use an array of structs, or '@Ignored' before the property"
  )
  public static func storable<Key, Value>(_ type: [Key: Value].Type) {}

  /// Accepts the type of an id.
  public static func identifying<Value: PersistableID>(_ type: Value.Type) {}

  /// Refuses any other type.
  @available(
    *, unavailable,
    message:
      "an 'id' is a string, an integer, a UUID, or a struct that is '@PersistableValue', is declared 'Hashable' itself, and has properties of these three kinds only; for another type, make the id its raw value, or a struct of such properties"
  )
  @_disfavoredOverload
  public static func identifying<Value>(_ type: Value.Type) {}

  /// Accepts a type that may have an index.
  public static func indexable<Value: IndexableProperty>(_ type: Value.Type) {}

  /// Refuses any other type.
  @available(
    *, unavailable,
    message:
      "values of this type have no order, so they cannot have an index; remove the mark, or mark a property that is a number, a string, a date or an enum with raw values"
  )
  @_disfavoredOverload
  public static func indexable<Value>(_ type: Value.Type) {}
}
