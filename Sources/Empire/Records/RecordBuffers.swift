// The two halves of a record, on their way in and out.
//
// Stored: key = prefix (4 bytes, big-endian), components; value = version (4 bytes, big-endian), fields.

/// Where a record writes itself.
public struct SerializationBuffer {
  /// Room for the components of the key.
  public var keyBuffer: UnsafeMutableRawBufferPointer
  /// Room for the fields.
  public var valueBuffer: UnsafeMutableRawBufferPointer

  @usableFromInline
  init(keyBuffer: UnsafeMutableRawBufferPointer, valueBuffer: UnsafeMutableRawBufferPointer) {
    self.keyBuffer = keyBuffer
    self.valueBuffer = valueBuffer
  }
}

/// Where a record reads itself.
public struct RecordDeserializer: ~Copyable, ~Escapable {
  /// Stands on the first component of the key.
  public var keyDeserializer: Deserializer
  /// Stands on the first field.
  public var fieldsDeserializer: Deserializer

  @usableFromInline
  @_lifetime(copy key, copy fields)
  init(key: consuming Deserializer, fields: consuming Deserializer) {
    keyDeserializer = key
    fieldsDeserializer = fields
  }
}
