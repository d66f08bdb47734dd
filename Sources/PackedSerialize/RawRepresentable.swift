// Types with a raw value: written as the raw value. They only need to declare `Serializable,
// Deserializable`.

extension RawRepresentable where RawValue: Serializable {
  /// The size of the raw value.
  @inlinable public var serializedSize: Int { rawValue.serializedSize }

  /// Writes the raw value.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    rawValue.serialize(into: &buffer)
  }
}

// These need the conformance in their constraints, so that the compiler prefers them to the
// defaults of the protocol.
extension RawRepresentable where Self: Serializable, RawValue: Serializable {
  /// The size of the raw value as a key.
  @inlinable public var serializedKeySize: Int { rawValue.serializedKeySize }

  /// Writes the raw value as a key.
  ///
  /// - Parameter buffer: Has room for the bytes; advanced past them.
  @inlinable
  public func serializeKey(into buffer: inout UnsafeMutableRawBufferPointer) {
    rawValue.serializeKey(into: &buffer)
  }

  /// Writes the raw value as a key. Fails for one that the type has no value for, unless it is read
  /// in a way of its own.
  ///
  /// - Parameter writer: The key.
  @inlinable
  public func serializeKey(to writer: inout KeyWriter) {
    let rawValue = rawValue
    if Self(rawValue: rawValue) == nil, !isReadable(as: .key) {
      return writer.refuse(refusal(of: rawValue))
    }
    rawValue.serializeKey(to: &writer)
  }

  /// Checks the raw value, and that the type has a value for it.
  ///
  /// - Parameter form: The form that the value is checked for.
  /// - Throws: The reason why it cannot be stored; `refusedRawValue` if `init(rawValue:)` returns
  ///   nil for it, and the type does not read it in a way of its own.
  @inlinable
  public func validate(as form: SerializedForm) throws(SerializeError) {
    let rawValue = rawValue
    try rawValue.validate(as: form)
    if Self(rawValue: rawValue) == nil, !isReadable(as: form) { throw refusal(of: rawValue) }
  }

  @usableFromInline
  func refusal(of rawValue: RawValue) -> SerializeError {
    .refusedRawValue("\(Self.self)(rawValue: \(String(reflecting: rawValue)))")
  }
}

extension RawRepresentable where RawValue: Deserializable, Self: Sendable {
  /// Reads a raw value.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `invalidValue` for an unknown raw value, and the errors of reading it.
  /// - Returns: The value.
  @inlinable
  public static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    let rawValue = try RawValue.unpack(with: &deserializer)
    guard let value = Self(rawValue: rawValue) else { throw .invalidValue }
    return value
  }
}

extension RawRepresentable where Self: Deserializable & Sendable, RawValue: Deserializable {
  /// Reads a raw value as a key.
  ///
  /// - Parameter deserializer: Positioned at the first byte.
  /// - Throws: `invalidValue` for an unknown raw value, and the errors of reading it.
  /// - Returns: The value.
  @inlinable
  public static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Self {
    let rawValue = try RawValue.unpackKey(with: &deserializer)
    guard let value = Self(rawValue: rawValue) else { throw .invalidValue }
    return value
  }
}
