// The buffers that a record is written to and read from: key and value.
//
// Format: key = prefix (4 bytes, big-endian), components; value = version (4 bytes, big-endian),
// fields.

/// The buffers that a record writes itself to.
public struct SerializationBuffer {
  /// The space for the components of the key.
  public var keyBuffer: UnsafeMutableRawBufferPointer
  /// The space for the fields.
  public var valueBuffer: UnsafeMutableRawBufferPointer

  @usableFromInline
  init(keyBuffer: UnsafeMutableRawBufferPointer, valueBuffer: UnsafeMutableRawBufferPointer) {
    self.keyBuffer = keyBuffer
    self.valueBuffer = valueBuffer
  }
}

/// The deserializers that a record reads itself from.
public struct RecordDeserializer: ~Copyable, ~Escapable {
  /// Positioned at the first component of the key.
  public var keyDeserializer: Deserializer
  /// Positioned at the first field.
  public var fieldsDeserializer: Deserializer

  @usableFromInline
  @_lifetime(copy key, copy fields)
  init(key: consuming Deserializer, fields: consuming Deserializer) {
    keyDeserializer = key
    fieldsDeserializer = fields
  }
}
