// Optionals: a `Bool`, then the value if there is one. Nil sorts first.

extension Optional: Serializable where Wrapped: Serializable {
  /// One, and the size of the value.
  @inlinable public var serializedSize: Int { 1 + (self?.serializedSize ?? 0) }

  /// Writes whether there is a value, then the value.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    (self != nil).serialize(into: &buffer)
    self?.serialize(into: &buffer)
  }

  /// One, and the size of the value as a key.
  @inlinable public var serializedKeySize: Int { 1 + (self?.serializedKeySize ?? 0) }

  /// Writes whether there is a value, then the value as a key.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    (self != nil).serialize(into: &buffer)
    self?.serializeKey(into: &buffer)
  }

  /// Writes whether there is a value, then the value as a key.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    (self != nil).serializeKey(to: &writer)
    self?.serializeKey(to: &writer)
  }

  /// Checks the value.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why the value cannot be stored.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if let self { try self.validate(as: form) }
  }

  /// Whether the type of the value does so.
  @inlinable public static var keepsValuesDistinct: Bool { Wrapped.keepsValuesDistinct }
}

extension Optional: Deserializable where Wrapped: Deserializable {
  /// Reads a flag, then the value if it is 1.
  ///
  /// - Parameter deserializer: Positioned at the flag.
  /// - Throws: `invalidValue` for another flag, and the errors of reading the value.
  /// - Returns: The value, or nil.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Wrapped? {
    guard try Bool.unpack(with: &deserializer) else { return nil }
    return try Wrapped.unpack(with: &deserializer)
  }

  /// Reads a flag, then the value as a key if it is 1.
  ///
  /// - Parameter deserializer: Positioned at the flag.
  /// - Throws: `invalidValue` for another flag, and the errors of reading the value.
  /// - Returns: The value, or nil.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Wrapped? {
    guard try Bool.unpack(with: &deserializer) else { return nil }
    return try Wrapped.unpackKey(with: &deserializer)
  }
}
