// What generated code asks of the types of properties, so that the compiler says once which of them cannot be stored.

/// The type of a property that is part of a record's key. `@IndexKeyRecord` uses it; a type that it does not take cannot be in a key.
public enum StoredKey<Value: QueryComponent> {
  /// The type.
  public typealias Value = Value

  /// Writes a value into a key.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Has room for the bytes; replaced by what remains of it.
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
  /// - Parameter deserializer: Stands on the first byte of the value.
  /// - Returns: The value.
  @inlinable @inline(__always)
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Value {
    try Value.unpackKey(with: &deserializer)
  }
}

/// The type of a property that is a field of a record. `@IndexKeyRecord` uses it; a type that it does not take cannot be stored.
public enum StoredField<Value: Serializable & Deserializable> {
  /// The type.
  public typealias Value = Value

  /// Checks a value and counts its bytes.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - size: Where to add the count.
  @inlinable @inline(__always)
  public static func add(_ value: Value, to size: inout FieldsSize) throws(SerializeError) {
    try size.add(value)
  }

  /// Writes a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable @inline(__always)
  public static func serialize(_ value: Value, into buffer: inout UnsafeMutableRawBufferPointer) {
    value.serialize(into: &buffer)
  }

  /// Reads a value.
  ///
  /// - Parameter deserializer: Stands on the first byte of the value.
  /// - Returns: The value.
  @inlinable @inline(__always)
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Value {
    try Value.unpack(with: &deserializer)
  }
}
