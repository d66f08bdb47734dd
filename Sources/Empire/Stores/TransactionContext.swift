// What a transaction's closure works with.
//
// The generic parts, which know the record's type, are inlined into the program that uses them. What touches the storage is not.

public import LMDB

/// A transaction, for as long as its closure runs.
///
/// Every call after that throws `StoreError.noActiveContext`. Reads see the transaction's own writes.
public struct TransactionContext {
  // One reference, because contexts are handed on and captured in every call.
  @usableFromInline let state: ContextState

  init(_ state: ContextState) { self.state = state }

  @inlinable var core: DatabaseCore { state.core }
  @inlinable var transaction: Transaction { state.transaction }
  var isReadOnly: Bool { state.isReadOnly }
  var writes: WriteState? { state.writes }

  /// The same transaction, for reading, with an end of its own.
  func readOnlyView() -> TransactionContext {
    TransactionContext(
      ContextState(
        core: core, transaction: transaction, isReadOnly: true, writes: writes,
        indexHandle: state.indexHandle))
  }

  /// Ends the context before its transaction ends.
  func end() { state.hasEnded = true }

  /// Throws when the closure has ended.
  @usableFromInline
  func checkActive() throws(StoreError) {
    if state.hasEnded || !state.transaction.isActive { throw .noActiveContext }
  }
}

/// What a context stands for. It belongs to one thread.
@usableFromInline
final class ContextState {
  @usableFromInline let core: DatabaseCore
  @usableFromInline let transaction: Transaction
  let isReadOnly: Bool
  /// What the transaction keeps beside records; nil in one that only reads.
  let writes: WriteState?
  /// The handle of the database of indexes for a transaction that only reads; nil if there was none when it began.
  let indexHandle: MDB_dbi?
  /// Whether the context has ended before its transaction.
  @exclusivity(unchecked) var hasEnded = false

  init(
    core: DatabaseCore, transaction: Transaction, isReadOnly: Bool, writes: WriteState?,
    indexHandle: MDB_dbi?
  ) {
    self.core = core
    self.transaction = transaction
    self.isReadOnly = isReadOnly
    self.writes = writes
    self.indexHandle = indexHandle
  }
}

// Single records.
extension TransactionContext {
  /// Stores a record, in place of one with the same key.
  ///
  /// - Parameter record: The record.
  /// - Throws: `SerializeError` for a value that cannot be stored, `StoreError.keyBufferOverflow` for a key that is too long,
  ///   `MDBError.permissionDenied` in a read-only transaction, other `MDBError`s.
  @inlinable
  public func insert<Record: IndexKeyRecord>(_ record: Record) throws {
    var size = RecordSize()
    try record.serialize(measuring: &size)
    try withRoom(key: size.key, value: size.fields) { key, value in
      writeTag(Record.keyPrefix, to: &key)
      writeTag(Record.fieldsVersion, to: &value)
      var buffer = SerializationBuffer(keyBuffer: key, valueBuffer: value)
      record.serialize(into: &buffer)
      key = buffer.keyBuffer
      value = buffer.valueBuffer
    } store: { key, value in
      let indexes = try indexesToKeep(Record.self)
      if !indexes.isEmpty { try updateIndexes(indexes, to: record, at: key) }
      try store(value, at: key)
    }
  }

  /// Finds the record with a key. An outdated one is stored anew.
  ///
  /// - Parameter key: Anything that has the bytes of the complete key: the type's `IndexKey`, a `Tuple`, a foreign key.
  /// - Returns: The record; nil if there is none.
  /// - Throws: `StoreError`, `SerializeError`, `DeserializeError`, `MDBError`, or what a migration throws.
  @inlinable
  public func select<Record: IndexKeyRecord>(key: some Serializable) throws -> sending Record? {
    var isOutdated = false
    return try select(key: key, isOutdated: &isOutdated)
  }

  /// Finds the record with a key.
  ///
  /// - Parameter key: As for `select(key:)`.
  /// - Returns: The record; nil if there is none.
  /// - Throws: As `select(key:)`.
  @available(*, deprecated, renamed: "select(key:)")
  @inlinable
  public func selectCopy<Record: IndexKeyRecord>(
    key: some Serializable
  ) throws -> sending Record? {
    try select(key: key)
  }

  /// Finds the record with a key, and says whether it was stored by another version of its type.
  @inlinable
  func select<Record: IndexKeyRecord>(
    key: some Serializable, isOutdated: inout Bool
  ) throws -> sending Record? {
    try key.validate(as: .key)
    // Nothing else refers to the record: it has just been read. The compiler loses sight of that in the closure.
    nonisolated(unsafe) var result: Record?
    try withKey(size: key.serializedKeySize) { room in
      let bytes = UnsafeRawBufferPointer(room)
      writeTag(Record.keyPrefix, to: &room)
      key.serializeKey(into: &room)
      guard let value = try storedValue(of: bytes) else { return }
      var migration: Migration?
      let record: Record = try decode(key: bytes, value: value, migration: &migration)
      isOutdated = migration != nil
      if let migration, !isReading { try rewrite([(migration, record)]) }
      result = record
    }
    return result
  }

  /// Deletes the record with the key of a record.
  ///
  /// - Parameter record: The record. Its fields do not matter.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, other `MDBError`s.
  @inlinable
  public func delete<Record: IndexKeyRecord>(_ record: Record) throws {
    try delete(recordType: Record.self, key: record.indexKey)
  }

  /// Deletes the record with a key.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, other `MDBError`s.
  @inlinable
  public func delete<Record: IndexKeyRecord>(
    recordType: Record.Type, key: Record.IndexKey
  ) throws {
    try key.validate(as: .key)
    try withKey(size: key.serializedKeySize) { room in
      let bytes = UnsafeRawBufferPointer(room)
      writeTag(Record.keyPrefix, to: &room)
      key.serializeKey(into: &room)
      try remove(recordType, at: bytes)
    }
  }

  /// Deletes the record that is stored under a key.
  @inlinable
  func remove<Record: IndexKeyRecord>(
    _ recordType: Record.Type, at key: UnsafeRawBufferPointer
  ) throws {
    let indexes = try indexesToKeep(recordType)
    if !indexes.isEmpty { try updateIndexes(indexes, to: nil as Record?, at: key) }
    try removeValue(of: key)
  }
}

/// A record that was stored by another version of its type: its key as it is stored.
@usableFromInline
struct Migration {
  @usableFromInline let key: [UInt8]

  @usableFromInline
  init(key: UnsafeRawBufferPointer) { self.key = [UInt8](key) }
}

// What the generic parts are made of.
extension TransactionContext {
  /// Whether nothing may be written.
  @usableFromInline var isReading: Bool { state.isReadOnly }

  /// Calls a closure with room for a key and its tag on the stack.
  @inlinable
  func withKey(
    size: Int, _ body: (inout UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    guard size <= maximumKeySize - 4 else { throw StoreError.keyBufferOverflow }
    try withUnsafeTemporaryAllocation(byteCount: size + 4, alignment: 1) { room in
      var room = room
      try body(&room)
    }
  }

  /// Lets a closure write a key and a value, and another one store them.
  @inlinable
  func withRoom(
    key keySize: Int, value valueSize: Int,
    _ write: (inout UnsafeMutableRawBufferPointer, inout UnsafeMutableRawBufferPointer) -> Void,
    store: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard keySize <= maximumKeySize - 4 else { throw StoreError.keyBufferOverflow }
    guard valueSize <= Int(UInt32.max) - 4 else { throw StoreError.valueBufferOverflow }
    try checkActive()
    try withUnsafeTemporaryAllocation(byteCount: keySize + valueSize + 8, alignment: 1) { room in
      let key = UnsafeMutableRawBufferPointer(rebasing: room[..<(keySize + 4)])
      let value = UnsafeMutableRawBufferPointer(rebasing: room[(keySize + 4)...])
      var keyRest = key
      var valueRest = value
      write(&keyRest, &valueRest)
      if keyRest.count != 0 || valueRest.count != 0 { recordMiscounted() }
      try store(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value))
    }
  }

  @inlinable var maximumKeySize: Int { core.maximumKeySize }

  @usableFromInline
  func recordMiscounted() -> Never {
    fatalError(
      "IndexKeyRecord: serialize(into:) has written fewer bytes than indexKey and fields have")
  }

  /// The bytes that are stored under a key, where they are.
  @usableFromInline
  func storedValue(of key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
    try checkActive()
    return try transaction.get(dbi: core.records, key: MDB_val(buffer: key))?.bufferPointer
  }

  /// Stores bytes under a key. The context has been found to be one that may write.
  @usableFromInline
  func store(_ value: UnsafeRawBufferPointer, at key: UnsafeRawBufferPointer) throws {
    writes?.note(key)
    try transaction.set(dbi: core.records, keyBuffer: key, valueBuffer: value)
  }

  /// Removes what is stored under a key. The context has been found to be one that may write.
  @usableFromInline
  func removeValue(of key: UnsafeRawBufferPointer) throws {
    writes?.note(key)
    try transaction.delete(dbi: core.records, key: MDB_val(buffer: key))
  }

  /// Throws unless the context may write.
  @usableFromInline
  func checkWritable() throws {
    try checkActive()
    if isReadOnly { throw MDBError.permissionDenied }
  }

  /// Makes a record of what is stored. Notes that it was stored by another version.
  @inlinable
  func decode<Record: IndexKeyRecord>(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, migration: inout Migration?
  ) throws -> sending Record {
    var keyDeserializer = Deserializer(_unsafeBytes: key)
    var fieldsDeserializer = Deserializer(_unsafeBytes: value)
    let prefix = try IndexKeyRecordHash.unpack(with: &keyDeserializer)
    guard prefix == Record.keyPrefix else {
      throw StoreError.recordPrefixMismatch(
        String(describing: Record.self), Record.keyPrefix, prefix)
    }
    let version = try IndexKeyRecordHash.unpack(with: &fieldsDeserializer)
    let deserializer = RecordDeserializer(key: keyDeserializer, fields: fieldsDeserializer)
    if version == Record.fieldsVersion { return try Record.deserialize(with: deserializer) }
    migration = Migration(key: key)
    return try Record.deserialize(with: deserializer, version: version)
  }

  /// Stores records anew that were migrated: first all old entries go, so that a record may take the key that another one had.
  @inlinable
  func rewrite<Record: IndexKeyRecord>(_ migrated: [(Migration, Record)]) throws {
    for (old, _) in migrated {
      try old.key.withUnsafeBytes { try remove(Record.self, at: $0) }
    }
    for (_, record) in migrated { try insert(record) }
  }
}

/// Writes a tag in front of a half of a record.
@inlinable
func writeTag(_ tag: IndexKeyRecordHash, to room: inout UnsafeMutableRawBufferPointer) {
  tag.serialize(into: &room)
}
