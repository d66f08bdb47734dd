// Whole types and the results of queries: counted, deleted, read one by one, changed.
//
// An entry is only decoded where its record is wanted: counting and deleting look at keys.

extension TransactionContext {
  /// All records of a type, in the order of their keys. Outdated ones are stored anew.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - limit: At most so many, the first ones; nil for all.
  /// - Returns: The records.
  /// - Throws: As `select(query:)`.
  @inlinable
  public func selectAll<Record: IndexKeyRecord>(
    _ recordType: Record.Type = Record.self, limit: Int? = nil
  ) throws -> sending [Record] {
    // Nothing else refers to the records: each has just been read. The compiler loses sight of that in the closure.
    nonisolated(unsafe) var records: [Record] = []
    var migrated: [(Migration, Int)] = []
    try forEachEntry(of: recordType, limit: limit) { key, value in
      var migration: Migration?
      records.append(try decode(key: key, value: value, migration: &migration))
      if let migration { migrated.append((migration, records.count - 1)) }
    }
    if !migrated.isEmpty && !isReading {
      try rewrite(migrated.map { ($0.0, records[$0.1]) })
    }
    return records
  }

  /// Calls a closure with one record after the other that a query describes, without keeping them.
  ///
  /// Outdated records are migrated for the closure, and stay as they are in the storage.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - recordType: The type of the records.
  ///   - body: Gets a record, and returns whether to go on. It must not write in this transaction.
  /// - Throws: The closure's error, or as `select(query:)`.
  @inlinable
  public func forEach<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Component, Last>, recordType: Record.Type = Record.self,
    _ body: (Record) throws -> Bool
  ) throws {
    do {
      try forEachEntry(of: query, recordType: recordType) { key, value in
        var migration: Migration?
        if try !body(try decode(key: key, value: value, migration: &migration)) { throw Enough() }
      }
    } catch is Enough {}
  }

  /// Calls a closure with one record after the other of a type, without keeping them.
  ///
  /// Outdated records are migrated for the closure, and stay as they are in the storage.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - body: Gets a record, and returns whether to go on. It must not write in this transaction.
  /// - Throws: The closure's error, or as `select(query:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    _ recordType: Record.Type, _ body: (Record) throws -> Bool
  ) throws {
    do {
      try forEachEntry(of: recordType, limit: nil) { key, value in
        var migration: Migration?
        if try !body(try decode(key: key, value: value, migration: &migration)) { throw Enough() }
      }
    } catch is Enough {}
  }

  /// How many records a query describes. They are not read.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - recordType: The type of the records.
  /// - Returns: The number.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`.
  @inlinable
  public func count<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Component, Last>, recordType: Record.Type
  ) throws -> Int {
    var count = 0
    try forEachEntry(of: query, recordType: recordType) { _, _ in count += 1 }
    return count
  }

  /// How many records of a type there are. They are not read.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number.
  /// - Throws: `StoreError`, `MDBError`.
  @inlinable
  public func count<Record: IndexKeyRecord>(_ recordType: Record.Type) throws -> Int {
    var count = 0
    try forEachEntry(of: recordType, limit: nil) { _, _ in count += 1 }
    return count
  }

  /// Deletes the records that a query describes. They are not read.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - recordType: The type of the records.
  /// - Returns: How many there were.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`.
  @discardableResult
  @inlinable
  public func delete<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Component, Last>, recordType: Record.Type
  ) throws -> Int {
    try checkWritable()
    var keys: Set<[UInt8]> = []
    try forEachEntry(of: query, recordType: recordType) { key, _ in keys.insert([UInt8](key)) }
    for key in keys { try key.withUnsafeBytes { try remove(recordType, at: $0) } }
    return keys.count
  }

  /// Deletes all records of a type. They are not read.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: How many there were.
  /// - Throws: `StoreError`, `MDBError`.
  @discardableResult
  @inlinable
  public func deleteAll<Record: IndexKeyRecord>(_ recordType: Record.Type) throws -> Int {
    try checkWritable()
    var keys: [[UInt8]] = []
    try forEachEntry(of: recordType, limit: nil) { key, _ in keys.append([UInt8](key)) }
    for key in keys { try key.withUnsafeBytes { try remove(recordType, at: $0) } }
    return keys.count
  }

  /// Changes the record with a key, if there is one.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - change: Changes the record. If it changes the key, the record moves, in place of one that is there.
  /// - Returns: The changed record; nil if there is none with the key.
  /// - Throws: The closure's error, or as `select(key:)` and `insert(_:)`.
  @discardableResult
  @inlinable
  public func update<Record: IndexKeyRecord>(
    _ recordType: Record.Type, key: Record.IndexKey, _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    try checkWritable()
    let found: Record? = try select(key: key)
    guard var record = found else { return nil }
    // Migration may have given it another key already.
    let old = record.indexKey
    try change(&record)
    if record.indexKey != old { try delete(recordType: recordType, key: old) }
    try insert(record)
    return record
  }

  /// Calls a closure with the stored bytes of each record of a type. It must not write.
  @inlinable
  func forEachEntry<Record: IndexKeyRecord>(
    of recordType: Record.Type, limit: Int?,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var rest = limit ?? .max
    try checkActive()
    if rest <= 0 { return }
    try withKey {
      $0.write(Record.keyPrefix.bigEndian)
    } body: { bytes in
      try scan(core.records, .atOrAbove, from: bytes, to: bytes, limit: &rest, body)
    }
  }
}

/// Ends a scan early.
@usableFromInline
struct Enough: Error {
  @usableFromInline init() {}
}
