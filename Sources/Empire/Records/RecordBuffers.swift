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
  /// The type whose record the bytes are, all of them; nil if another version of it stored them.
  @usableFromInline let owner: ObjectIdentifier?

  @usableFromInline
  @_lifetime(copy key, copy fields)
  init(key: consuming Deserializer, fields: consuming Deserializer, owner: ObjectIdentifier?) {
    keyDeserializer = key
    fieldsDeserializer = fields
    self.owner = owner
  }

  /// Throws if bytes are left: the record is damaged, or another type has stored it.
  ///
  /// What is left is ignored if the deserializer was made for another type, or for a record that
  /// another version has stored. A migration may read a part of it.
  ///
  /// - Parameters:
  ///   - recordType: The type that has read all that it stores.
  ///   - ignoresFields: Whether bytes behind the fields are ignored: those of another type with the
  ///     same prefix and version, or of a newer release that does not tell them apart.
  /// - Throws: `invalidValue`. The store reports it as `StoreError.surplusBytes`.
  @inlinable
  public func checkEnd<Record: IndexKeyRecord>(
    of recordType: Record.Type, ignoringFields ignoresFields: Bool = false
  ) throws(DeserializeError) {
    guard owner == ObjectIdentifier(recordType) else { return }
    if !keyDeserializer.rawSpan.isEmpty || !(ignoresFields || fieldsDeserializer.rawSpan.isEmpty) {
      throw .invalidValue
    }
  }
}
