// What a transaction's closure works with.
//
// The generic parts, which know the record's type, are inlined into the program that uses them. What touches the storage is not.

public import LMDB

/// A transaction, for as long as its closure runs.
///
/// Every call after that throws `StoreError.noActiveContext`. Reads see the transaction's own writes.
public struct TransactionContext {
  // One reference, because contexts are handed on and captured in every call.
  @usableFromInline private(set) var state: ContextState

  init(_ state: ContextState) { self.state = state }

  /// Whether no one else has this context, or a copy of it.
  mutating func isOnlyOne() -> Bool { isKnownUniquelyReferenced(&state) }

  @inlinable var core: DatabaseCore { state.core }
  @inlinable var transaction: Transaction { state.transaction }
  var isReadOnly: Bool { state.isReadOnly }
  var writes: WriteState? { state.writes }

  /// The same transaction, for reading, with an end of its own.
  func readOnlyView() -> TransactionContext {
    TransactionContext(
      ContextState(
        core: core, transaction: transaction, isReadOnly: true, writes: writes,
        indexHandle: state.indexHandle, isView: true))
  }

  /// Ends the context before its transaction ends.
  func end() { state.hasEnded = true }

  /// Ends the transaction, without changes.
  func endTransaction() { state.transaction.abort() }

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
  @exclusivity(unchecked) private(set) var indexHandle: MDB_dbi?
  /// Whether the transaction is another context's, and ends after this one.
  let isView: Bool
  /// Whether the context has ended before its transaction.
  @exclusivity(unchecked) var hasEnded = false
  /// The transaction that is open around this one on its thread, while this one is open.
  @exclusivity(unchecked) var enclosing: OpenTransactions.Link = nil

  init(
    core: DatabaseCore, transaction: Transaction, isReadOnly: Bool, writes: WriteState?,
    indexHandle: MDB_dbi?, isView: Bool = false
  ) {
    self.core = core
    self.transaction = transaction
    self.isReadOnly = isReadOnly
    self.writes = writes
    self.indexHandle = indexHandle
    self.isView = isView
  }

  /// Begins the transaction of a context that reads once more. Nobody else has the context.
  func restart() throws {
    // Known before the transaction begins, so it may use it.
    indexHandle = core.indexHandle
    try transaction.restart()
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
    try checkType(Record.self)
    try withKey(of: record) { key in
      var size = FieldsSize()
      do throws(SerializeError) { try record.serialize(measuring: &size) } catch {
        throw fieldError(error, record)
      }
      guard size.bytes <= Int(UInt32.max) - 4 else { throw StoreError.valueBufferOverflow }
      let tags = Record.indexTags
      let indexes = try indexesToKeep(Record.keyPrefix, Record.fieldsVersion, tags)
      if indexes.count < tags.count {
        // One that is built later has to have room for the record as well.
        for index in tags.indices where !indexes.contains(index) {
          _ = try record.entry(ofIndex: index)
        }
      }
      if !indexes.isEmpty { try updateIndexes(indexes, to: record, at: key) }
      // The fields are written where they are stored. Nothing fails any more.
      var fields = try makeRoom(for: size.bytes, at: key)
      fields.storeBytes(of: Record.fieldsVersion.bigEndian, as: IndexKeyRecordHash.self)
      fields = UnsafeMutableRawBufferPointer(rebasing: fields[4...])
      record.serialize(fields: &fields)
      if !fields.isEmpty { recordMiscounted() }
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
    try checkType(Record.self)
    // Unsafe, and sound: `decode` has just made the record from bytes, so this is the only reference to it. The compiler cannot see
    // that, because the closure returns the record, and would not let the caller send it to another isolation.
    nonisolated(unsafe) let result: Record? = try withKey(of: Record.self, key) { key in
      guard let value = try storedValue(of: key) else { return nil }
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      if let migration {
        isOutdated = true
        if !isReading { try rewrite([(migration, record)]) }
      }
      return record
    }
    return result
  }

  /// Deletes the record with the key of a record.
  ///
  /// - Parameter record: The record. Its fields do not matter.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, other `MDBError`s.
  @inlinable
  public func delete<Record: IndexKeyRecord>(_ record: Record) throws {
    try checkType(Record.self)
    try withKey(of: record) { try remove(Record.self, at: $0) }
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
    try checkType(recordType)
    try withKey(of: recordType, key) { try remove(recordType, at: $0) }
  }

  /// Deletes the record that is stored under a key.
  @inlinable
  func remove<Record: IndexKeyRecord>(
    _ recordType: Record.Type, at key: UnsafeRawBufferPointer
  ) throws {
    let indexes = try indexesToKeep(recordType)
    if !indexes.isEmpty { try updateIndexes(indexes, to: nil as Record?, at: key) }
    if try !removeValue(of: key) { throw absenceError(recordType, key) }
  }
}

/// The largest key, its tag included. It is LMDB's own limit, known here, so that keys have a room of fixed size on the stack.
@inlinable var maximumKeySize: Int { 511 }

@usableFromInline
func recordMiscounted() -> Never {
  fatalError(
    "IndexKeyRecord: serialize(into:) has written fewer bytes than indexKey and fields have")
}

@usableFromInline
func recordHasTwoKeys() -> Never {
  fatalError(
    "IndexKeyRecord: serialize(into:) has written a key of other bytes than indexKey has")
}

/// Calls a closure with the key that another one writes, on the stack. What cannot be written is thrown.
@inlinable @inline(__always)
func withKey<T>(
  _ write: (inout KeyWriter) -> Void, failure: (KeyFailure?) -> any Error,
  body: (UnsafeRawBufferPointer) throws -> T
) throws -> T {
  try withUnsafeTemporaryAllocation(byteCount: maximumKeySize, alignment: 1) { room in
    var writer = KeyWriter(room)
    write(&writer)
    guard writer.remaining >= 0 else { throw failure(writer.failure) }
    return try body(
      UnsafeRawBufferPointer(rebasing: room[..<(room.count - writer.remaining)]))
  }
}

/// Calls a closure with a key of a type's records.
@inlinable @inline(__always)
func withKey<Record: IndexKeyRecord, Key: Serializable, T>(
  of recordType: Record.Type, _ key: Key, body: (UnsafeRawBufferPointer) throws -> T
) throws -> T {
  try withKey { writer in
    writer.write(Record.keyPrefix.bigEndian)
    key.serializeKey(to: &writer)
  } failure: {
    keyError($0, recordType, .key, [key])
  } body: {
    try body($0)
  }
}

/// Calls a closure with the key of a record.
@inlinable @inline(__always)
func withKey<Record: IndexKeyRecord, T>(
  of record: Record, body: (UnsafeRawBufferPointer) throws -> T
) throws -> T {
  try withKey { writer in
    writer.write(Record.keyPrefix.bigEndian)
    record.serialize(key: &writer)
  } failure: {
    keyError($0, Record.self, .key, [record.indexKey])
  } body: {
    try body($0)
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

  /// The bytes that are stored under a key, where they are.
  @usableFromInline
  func storedValue(of key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
    // A transaction that has ended finds nothing.
    if !state.hasEnded, let value = try transaction.bytes(of: key, in: core.records) {
      return value
    }
    try checkActive()
    return nil
  }

  /// Makes room under a key for the fields' tag and their bytes. The context has been found to be one that may write.
  @usableFromInline
  func makeRoom(
    for fields: Int, at key: UnsafeRawBufferPointer
  ) throws -> UnsafeMutableRawBufferPointer {
    writes?.note(key)
    return try transaction.reserve(
      dbi: core.records, key: MDB_val(buffer: key), size: fields + 4)
  }

  /// Removes what is stored under a key. The context has been found to be one that may write.
  ///
  /// - Returns: Whether there was something.
  @usableFromInline
  func removeValue(of key: UnsafeRawBufferPointer) throws -> Bool {
    writes?.note(key)
    do {
      try transaction.delete(dbi: core.records, key: MDB_val(buffer: key))
      return true
    } catch MDBError.recordNotFound {
      return false
    }
  }

  /// Throws if another type has the same tag by accident.
  @inlinable
  func checkType<Record: IndexKeyRecord>(_ recordType: Record.Type) throws {
    if !knows(ObjectIdentifier(recordType)) { try core.types.add(recordType) }
  }

  @usableFromInline
  func knows(_ type: ObjectIdentifier) -> Bool { core.types.knows(type) }

  /// Throws unless the context may write.
  @usableFromInline
  func checkWritable() throws {
    try checkActive()
    if isReadOnly { throw MDBError.readOnly }
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

/// Makes a record of what is stored. Notes that it was stored by another version.
@inlinable @inline(__always)
func decode<Record: IndexKeyRecord>(
  key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer, migration: inout Migration?
) throws -> sending Record {
  var keyDeserializer = Deserializer(_unsafeBytes: key)
  var fieldsDeserializer = Deserializer(_unsafeBytes: value)
  do {
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
  } catch let reason as DeserializeError {
    throw readingError(reason, Record.self, key)
  }
}
