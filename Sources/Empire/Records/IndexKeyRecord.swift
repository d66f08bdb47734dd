// Records: the protocol that the macro implements, or a program by hand.

/// A tag of four bytes that identifies a record type or the version of its fields.
public typealias IndexKeyRecordHash = UInt32

/// A value that is stored under a sorted key.
///
/// `@IndexKeyRecord` generates the conformance. A conformance by hand chooses its own tags, and
/// writes and reads its components in the order of `IndexKey` and `Fields`; see <doc:Conforming>.
public protocol IndexKeyRecord: SendableMetatype {
  /// The components of the key, in order.
  associatedtype IndexKey: Serializable & Deserializable & IndexKeyComparable
  /// The components of the stored value, in order.
  associatedtype Fields: Serializable & Deserializable

  /// The tag of the type. Types with the same tag share their records.
  static var keyPrefix: IndexKeyRecordHash { get }
  /// The tag of the fields' types. A stored record with a different tag is migrated when it is
  /// read.
  static var fieldsVersion: IndexKeyRecordHash { get }
  /// Other tags of the same fields, which are read without a migration and never written. Empty by
  /// default.
  static var equalFieldsVersions: [IndexKeyRecordHash] { get }

  /// The record's key.
  var indexKey: IndexKey { get }
  /// The record's other values.
  var fields: Fields { get }

  /// Appends the components of the key to `keyBuffer` and the fields to `valueBuffer`: exactly as
  /// many bytes as `indexKey` and `fields` have.
  ///
  /// - Parameter buffer: The buffers to write to. Both buffers are positioned after their tags.
  func serialize(into buffer: inout SerializationBuffer)

  /// Reads a record with this type's fields.
  ///
  /// - Parameter deserializer: Both buffers are positioned after their tags.
  /// - Throws: A description of what is wrong with the bytes.
  /// - Returns: The record.
  static func deserialize(
    with deserializer: consuming RecordDeserializer
  ) throws(DeserializeError) -> sending Self

  /// Reads a record that was stored with other fields.
  ///
  /// The default throws `unsupportedMigrationError(for:)`.
  ///
  /// - Parameters:
  ///   - deserializer: Both buffers are positioned after their tags.
  ///   - version: The `fieldsVersion` that is stored with the record.
  /// - Throws: `StoreError.migrationUnsupported` for a version that is unknown, or any other error.
  /// - Returns: The record as it is now. Its key may have changed.
  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Self

  /// Checks and writes the components of the key. The default writes `indexKey`.
  ///
  /// - Parameter writer: Positioned after the type's tag.
  func serialize(key writer: inout KeyWriter)

  /// Checks the fields and counts their bytes. The default uses `fields`.
  ///
  /// - Parameter size: Accumulates the counts.
  /// - Throws: The reason why a value cannot be stored.
  func serialize(measuring size: inout FieldsSize) throws(SerializeError)

  /// Appends the fields: exactly as many bytes as `serialize(measuring:)` has counted. The default
  /// calls `serialize(into:)`.
  ///
  /// - Parameter buffer: Positioned after the fields' tag; advanced past the fields. It is part of
  ///   the storage, so this function must not use a store.
  func serialize(fields buffer: inout UnsafeMutableRawBufferPointer)

  /// The names of the properties, for errors. The default has no names.
  static var recordDescription: RecordDescription { get }

  /// A tag for each index of the type. It identifies the types and the meaning of the index's
  /// components. The default is no index.
  static var indexTags: [IndexKeyRecordHash] { get }

  /// Appends the record's values in one of the indexes.
  ///
  /// - Parameters:
  ///   - index: The position of the index in `indexTags`.
  ///   - entry: The entry to append to, in the order of the index.
  /// - Throws: The reason why one of them cannot be stored.
  func serialize(index: Int, into entry: inout IndexEntry) throws(SerializeError)
}

/// The number of bytes of a record's fields, without their tag.
public struct FieldsSize: Sendable, Hashable {
  @usableFromInline var count = 0

  /// The number.
  @inlinable public var bytes: Int { count }

  @inlinable init() {}

  /// Checks a field and adds its bytes.
  ///
  /// - Parameter field: The field.
  /// - Throws: The reason why it cannot be stored.
  @inlinable
  public mutating func add(_ field: some Serializable) throws(SerializeError) {
    try field.validate(as: .field)
    count += field.serializedSize
  }
}

extension IndexKeyRecord {
  /// None.
  public static var equalFieldsVersions: [IndexKeyRecordHash] { [] }
}

extension IndexKeyRecord {
  /// Writes the components of the key.
  ///
  /// - Parameter writer: Positioned after the type's tag.
  @inlinable
  public func serialize(key writer: inout KeyWriter) { indexKey.serializeKey(to: &writer) }

  /// Checks the fields and counts their bytes.
  ///
  /// - Parameter size: Accumulates the counts.
  /// - Throws: The reason why a value cannot be stored.
  @inlinable
  public func serialize(measuring size: inout FieldsSize) throws(SerializeError) {
    try size.add(fields)
  }

  /// Appends the fields.
  ///
  /// - Parameter buffer: Positioned after the fields' tag; advanced past the fields.
  @inlinable
  public func serialize(fields buffer: inout UnsafeMutableRawBufferPointer) {
    // The key has already been written from `indexKey`. If `serialize(into:)` wrote different key
    // bytes, the record would be read back with a wrong key.
    let size = indexKey.serializedKeySize
    withUnsafeTemporaryAllocation(byteCount: 2 * size, alignment: 1) { room in
      let key = UnsafeMutableRawBufferPointer(rebasing: room[..<size])
      var halves = SerializationBuffer(keyBuffer: key, valueBuffer: buffer)
      serialize(into: &halves)
      if !halves.keyBuffer.isEmpty { recordHasWrongSize() }
      let stored = UnsafeMutableRawBufferPointer(rebasing: room[size...])
      var writer = KeyWriter(stored)
      serialize(key: &writer)
      if !key.elementsEqual(stored) { recordHasTwoKeys() }
      buffer = halves.valueBuffer
    }
  }

  /// No names.
  public static var recordDescription: RecordDescription { RecordDescription() }

  /// No indexes.
  @inlinable public static var indexTags: [IndexKeyRecordHash] { [] }

  /// Does nothing: there are no indexes.
  ///
  /// - Parameters:
  ///   - index: The position of an index.
  ///   - entry: Not changed.
  @inlinable
  public func serialize(index: Int, into entry: inout IndexEntry) throws(SerializeError) {}

  /// Throws, because other versions are unknown.
  ///
  /// - Parameters:
  ///   - deserializer: Not read.
  ///   - version: The version that is stored.
  /// - Throws: `unsupportedMigrationError(for:)`.
  /// - Returns: Never.
  public static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending Self {
    throw unsupportedMigrationError(for: version)
  }

  /// The error for a version that this type cannot read.
  ///
  /// - Parameter version: The version that is stored.
  /// - Returns: The error, with the type's name, its version and the version that was found.
  public static func unsupportedMigrationError(for version: IndexKeyRecordHash) -> StoreError {
    .migrationUnsupported(String(describing: Self.self), Self.fieldsVersion, version)
  }

  /// Deletes the record with a key.
  ///
  /// - Parameters:
  ///   - context: The transaction.
  ///   - key: The complete key.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`.
  @inlinable
  public static func delete(in context: TransactionContext, key: IndexKey) throws {
    try context.delete(recordType: Self.self, key: key)
  }

  /// Deletes the record with this one's key.
  ///
  /// - Parameter context: The transaction.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`.
  @inlinable
  public func delete(in context: TransactionContext) throws {
    try context.delete(self)
  }

  /// Stores the record, replacing one with the same key.
  ///
  /// - Parameter context: The transaction.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`.
  @inlinable
  public func insert(in context: TransactionContext) throws {
    try context.insert(self)
  }

  /// Stores the record, replacing one with the same key, in a transaction of its own.
  ///
  /// - Parameter store: The store.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`, `CancellationError`.
  @inlinable
  public func insert(in store: Store) throws {
    try store.insert(self)
  }
}

extension IndexKeyRecord where IndexKey: Hashable {
  /// The identity of a record.
  public typealias ID = IndexKey

  /// The key. To conform to `Identifiable`, declare `extension Person: Identifiable {}`.
  @inlinable public var id: IndexKey { indexKey }
}
