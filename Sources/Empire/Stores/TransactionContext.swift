// The context that a transaction's closure works with.
//
// The generic parts depend on the record's type and are inlined into the program. The parts that
// access the storage are not.

public import LMDB

/// A transaction, valid while its closure runs.
///
/// After that, every call throws `StoreError.noActiveContext`. Reads see the transaction's own
/// writes.
public struct TransactionContext {
  // A single reference, because contexts are passed on and captured in every call.
  @usableFromInline private(set) var state: ContextState

  init(_ state: ContextState) { self.state = state }

  /// Whether there is no other copy of this context.
  mutating func isUniquelyReferenced() -> Bool { isKnownUniquelyReferenced(&state) }

  @inlinable var core: DatabaseCore { state.core }
  @inlinable var transaction: Transaction { state.transaction }
  var isReadOnly: Bool { state.isReadOnly }
  var writes: WriteState? { state.writes }

  /// A read-only context of the same transaction that can end before it.
  func readOnlyView() -> TransactionContext {
    TransactionContext(
      ContextState(
        core: core, transaction: transaction, isReadOnly: true, writes: writes,
        indexHandle: state.indexHandle, isView: true))
  }

  /// Ends the context before its transaction ends.
  func end() { state.hasEnded = true }

  /// Ends the transaction without committing.
  func endTransaction() { state.transaction.abort() }

  /// Throws if the context or its transaction has ended.
  @usableFromInline
  func checkActive() throws(StoreError) {
    if state.hasEnded || !state.transaction.isActive { throw .noActiveContext }
  }
}

/// The state behind a context. It belongs to one thread.
@usableFromInline
final class ContextState {
  @usableFromInline let core: DatabaseCore
  @usableFromInline let transaction: Transaction
  let isReadOnly: Bool
  /// The state of a writing transaction; nil in one that only reads.
  let writes: WriteState?
  /// The handle of the index database for a read-only transaction; nil if there was none when it
  /// began.
  @exclusivity(unchecked) private(set) var indexHandle: MDB_dbi?
  /// Whether the transaction belongs to another context and ends after this one.
  let isView: Bool
  /// Whether the context was ended before its transaction.
  @exclusivity(unchecked) var hasEnded = false
  /// The transaction that encloses this one on its thread, while this one is open.
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

  /// Restarts the transaction of a read-only context. There must be no other reference to the
  /// context.
  func restart() throws {
    // Loaded before the transaction begins, so the handle is valid in it.
    indexHandle = core.indexHandle
    try transaction.restart()
  }
}

// Single records.
extension TransactionContext {
  /// Stores a record, replacing one with the same key.
  ///
  /// - Parameter record: The record.
  /// - Throws: `SerializeError` for a value that cannot be stored, `StoreError.keyBufferOverflow`
  ///   for a key that is too long, `MDBError.permissionDenied` in a read-only transaction, other
  ///   `MDBError`s.
  @inlinable
  public func insert<Record: IndexKeyRecord>(_ record: Record) throws {
    try checkType(Record.self)
    try withKey(of: record) { key in
      var size = FieldsSize()
      do throws(SerializeError) { try record.serialize(measuring: &size) } catch {
        throw fieldError(error, record)
      }
      guard size.bytes <= maximumFieldsSize else { throw valueError(record, size.bytes) }
      let tags = Record.indexTags
      let indexes = try indexesToMaintain(Record.keyPrefix, Record.fieldsVersion, tags)
      if indexes.count < tags.count {
        // The record must also fit the indexes that are built later.
        for index in tags.indices where !indexes.contains(index) {
          _ = try record.entry(ofIndex: index)
        }
      }
      if !indexes.isEmpty { try updateIndexes(indexes, to: record, at: key) }
      // The fields are written directly into the storage. Nothing can fail from here on.
      var fields = try makeRoom(for: size.bytes, at: key)
      fields.storeBytes(of: Record.fieldsVersion.bigEndian, as: IndexKeyRecordHash.self)
      fields = UnsafeMutableRawBufferPointer(rebasing: fields[4...])
      record.serialize(fields: &fields)
      if !fields.isEmpty { recordHasWrongSize() }
    }
  }

  /// Finds the record with a key. An outdated one is rewritten.
  ///
  /// - Parameter key: Any value with the bytes of the complete key: the type's `IndexKey`, a
  ///   `Tuple`, a foreign key.
  /// - Returns: The record; nil if there is none.
  /// - Throws: `StoreError`, such as `migratedKeyTaken` for one that would replace another record;
  ///   `SerializeError`, `DeserializeError`, `MDBError`, or what a migration throws.
  @inlinable
  public func select<Record: IndexKeyRecord>(key: some Serializable) throws -> sending Record? {
    var isOutdated = false
    return try select(key: key, isOutdated: &isOutdated)
  }

  /// Finds the record with a key.
  ///
  /// - Parameter key: As for `select(key:)`.
  /// - Returns: The record; nil if there is none.
  /// - Throws: The same errors as `select(key:)`.
  @available(*, deprecated, renamed: "select(key:)")
  @inlinable
  public func selectCopy<Record: IndexKeyRecord>(
    key: some Serializable
  ) throws -> sending Record? {
    try select(key: key)
  }

  /// Finds the record with a key, and reports whether it was stored by another version of its type.
  @inlinable
  func select<Record: IndexKeyRecord>(
    key: some Serializable, isOutdated: inout Bool
  ) throws -> sending Record? {
    try checkType(Record.self)
    // Sound: `decode` has just created the record from bytes, so this is the only reference to it.
    // The compiler cannot see that, because the closure returns the record, and would otherwise not
    // let the caller send it to another isolation domain.
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
  /// - Parameter record: The record. Its fields are ignored.
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, other
  ///   `MDBError`s.
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
  /// - Throws: `MDBError.recordNotFound` if there is none, `StoreError`, `SerializeError`, other
  ///   `MDBError`s.
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
    let indexes = try indexesToMaintain(recordType)
    if !indexes.isEmpty { try updateIndexes(indexes, to: nil as Record?, at: key) }
    if try !removeValue(of: key) { throw absenceError(recordType, key) }
  }
}

/// The maximum size of a key with its tag. It is LMDB's limit, repeated here as a constant so that
/// keys can be written to a fixed-size buffer on the stack.
@inlinable var maximumKeySize: Int { 511 }

/// The maximum number of bytes of the fields, without their tag.
@inlinable var maximumFieldsSize: Int { Int(UInt32.max) - 4 }

@usableFromInline
func recordHasWrongSize() -> Never {
  fatalError(
    "IndexKeyRecord: serialize(into:) has written fewer bytes than indexKey and fields have")
}

@usableFromInline
func recordHasTwoKeys() -> Never {
  fatalError(
    "IndexKeyRecord: serialize(into:) has written different key bytes than indexKey has")
}

/// Calls a closure with the key that another closure writes into a buffer on the stack. Throws if
/// the key cannot be written.
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

/// A record that was stored by another version of its type, with its stored key.
@usableFromInline
struct Migration {
  @usableFromInline let key: [UInt8]

  @usableFromInline
  init(key: UnsafeRawBufferPointer) { self.key = [UInt8](key) }
}

// The non-generic operations that the generic ones use.
extension TransactionContext {
  /// Whether the context is read-only.
  @usableFromInline var isReading: Bool { state.isReadOnly }

  /// The bytes that are stored under a key, without copying them.
  @usableFromInline
  func storedValue(of key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer? {
    // An ended transaction never finds a value, so `checkActive` is only needed below.
    if !state.hasEnded, let value = try transaction.bytes(of: key, in: core.records) {
      return value
    }
    try checkActive()
    return nil
  }

  /// Reserves space under a key for the fields' tag and their bytes. The caller has checked that
  /// the context may write.
  @usableFromInline
  func makeRoom(
    for fields: Int, at key: UnsafeRawBufferPointer
  ) throws -> UnsafeMutableRawBufferPointer {
    writes?.note(key)
    return try transaction.reserve(
      dbi: core.records, key: MDB_val(buffer: key), size: fields + 4)
  }

  /// Removes the entry of a key. The caller has checked that the context may write.
  ///
  /// - Returns: Whether there was an entry.
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

  /// Throws if another type has the same hashed tag.
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

  /// Stores migrated records, or changes nothing if one of them cannot be stored. All old entries
  /// are removed first, so that a record may take the former key of another one.
  @inlinable
  func rewrite<Record: IndexKeyRecord>(_ migrated: [(Migration, Record)]) throws {
    if migrated.isEmpty { return }
    // A caller may catch the error and commit.
    try nested { context in
      // A list of keys may have named a record more than once.
      var removed: Set<[UInt8]> = []
      let different = migrated.filter { removed.insert($0.0.key).inserted }
      for (old, _) in different {
        try old.key.withUnsafeBytes { try context.remove(Record.self, at: $0) }
      }
      for (old, record) in different {
        try withKey(of: record) { key in
          // Replacing another record would lose it.
          if try context.storedValue(of: key) != nil {
            throw takenKeyError(Record.self, stored: old.key, migrated: key)
          }
        }
        try context.insert(record)
      }
    }
  }
}

/// Decodes a stored record. Sets `migration` if it was stored by another version of its type.
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
    let isCurrent = version == Record.fieldsVersion || Record.equalFieldsVersions.contains(version)
    let deserializer = RecordDeserializer(
      key: keyDeserializer, fields: fieldsDeserializer,
      owner: isCurrent ? ObjectIdentifier(Record.self) : nil)
    if isCurrent { return try Record.deserialize(with: deserializer) }
    migration = Migration(key: key)
    return try Record.deserialize(with: deserializer, version: version)
  } catch let reason as DeserializeError {
    throw readingError(reason, Record.self, key, value)
  }
}
