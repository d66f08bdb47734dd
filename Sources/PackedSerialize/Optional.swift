// Optionals: a `Bool`, then the value if there is one. None comes first.

extension Optional: Serializable where Wrapped: Serializable {
  /// One, and the size of the value.
  @inlinable public var serializedSize: Int { 1 + (self?.serializedSize ?? 0) }

  /// Writes whether there is a value, then the value.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    (self != nil).serialize(into: &buffer)
    self?.serialize(into: &buffer)
  }

  /// One, and the size of the value as a key.
  @inlinable public var serializedKeySize: Int { 1 + (self?.serializedKeySize ?? 0) }

  /// Writes whether there is a value, then the value as a key.
  ///
  /// - Parameter buffer: Has room for the bytes; replaced by what remains of it.
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
  /// - Parameter form: What the bytes are for.
  /// - Throws: What is wrong with the value.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    if let self { try self.validate(as: form) }
  }
}

extension Optional: Deserializable where Wrapped: Deserializable {
  /// Reads a flag, then the value if it is 1.
  ///
  /// - Parameter deserializer: Stands on the flag.
  /// - Throws: `invalidValue` for another flag, and what reading the value throws.
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
  /// - Parameter deserializer: Stands on the flag.
  /// - Throws: `invalidValue` for another flag, and what reading the value throws.
  /// - Returns: The value, or nil.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Wrapped? {
    guard try Bool.unpack(with: &deserializer) else { return nil }
    return try Wrapped.unpackKey(with: &deserializer)
  }
}
