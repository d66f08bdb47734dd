// Helpers that constrain the types of properties in generated code, so that the compiler reports
// each type that cannot be stored exactly once.

/// The type of a property in a record's key. Used by `@IndexKeyRecord`; a type that does not
/// satisfy its constraints cannot be part of a key.
public enum StoredKey<Value: QueryComponent> {
  /// The type.
  public typealias Value = Value

  /// Writes a value into a key.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Has room for the bytes; advanced past them.
  @inlinable @inline(__always)
  public static func serializeKey(
    _ value: Value, into buffer: inout UnsafeMutableRawBufferPointer
  ) {
    value.serializeKey(into: &buffer)
  }

  /// Checks a value and writes it into a key.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - writer: The key.
  @inlinable @inline(__always)
  public static func serializeKey(_ value: Value, to writer: inout KeyWriter) {
    value.serializeKey(to: &writer)
  }

  /// Reads a value from a key.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the value.
  /// - Returns: The value.
  @inlinable @inline(__always)
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Value {
    try Value.unpackKey(with: &deserializer)
  }
}

/// The type of a field of a record. Used by `@IndexKeyRecord`; a type that does not satisfy its
/// constraints cannot be stored.
public enum StoredField<Value: Serializable & Deserializable> {
  /// The type.
  public typealias Value = Value

  /// Checks a value and counts its bytes.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - size: Accumulates the count.
  @inlinable @inline(__always)
  public static func add(_ value: Value, to size: inout FieldsSize) throws(SerializeError) {
    try size.add(value)
  }

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Has room for the bytes; advanced past them.
  @inlinable @inline(__always)
  public static func serialize(_ value: Value, into buffer: inout UnsafeMutableRawBufferPointer) {
    value.serialize(into: &buffer)
  }

  /// Reads a value.
  ///
  /// - Parameter deserializer: Positioned at the first byte of the value.
  /// - Returns: The value.
  @inlinable @inline(__always)
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Value {
    try Value.unpack(with: &deserializer)
  }
}

/// A type to check. Generated code passes it as a type argument, where its name cannot refer to a
/// property of the same name.
public enum StoredType<Value> {}

/// Checks of properties' types whose errors say what to write. Used by `@IndexKeyRecord`.
public enum StoredTypes {
  /// Accepts a type that can be a field.
  public static func field<Value: Serializable & Deserializable>(_ type: StoredType<Value>.Type) {}

  /// Refuses any other type.
  @available(
    *, unavailable,
    message:
      "a field cannot have this type; declare the type 'Serializable, Deserializable' if it has a raw value, or 'JSONSerializable' if it is 'Codable'"
  )
  @_disfavoredOverload
  public static func field<Value>(_ type: StoredType<Value>.Type) {}

  /// Accepts a type that can be part of a key.
  public static func key<Value: QueryComponent>(_ type: StoredType<Value>.Type) {}

  /// Refuses any other type.
  @available(
    *, unavailable,
    message:
      "a key cannot have this type; use a string, a number, a date or a UUID, or declare a type with a raw value 'Serializable, Deserializable, IndexKeyComparable', with '<'"
  )
  @_disfavoredOverload
  public static func key<Value>(_ type: StoredType<Value>.Type) {}
}
