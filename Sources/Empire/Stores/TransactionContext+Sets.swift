// Sets of records: reading, counting, deleting, changing, iterating.
//
// An entry is only decoded if its record is needed: counting and deleting use the keys alone.

extension TransactionContext {
  /// Finds the records of a set. Outdated ones are rewritten after all have been found.
  ///
  /// - Parameter set: The set.
  /// - Returns: The records, in the order of the set.
  /// - Throws: `MDBError.recordNotFound` if a list of complete keys names one that is absent;
  ///   `StoreError`, `SerializeError`, `MDBError`, or what a migration throws.
  @inlinable
  public func select<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>
  ) throws -> sending [Record] {
    var hasOutdated = false
    return try select(set, hasOutdated: &hasOutdated)
  }

  @inlinable
  func select<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>, hasOutdated: inout Bool
  ) throws -> sending [Record] {
    try collect(hasOutdated: &hasOutdated) { try forEachEntry(of: set, $0) }
  }

  /// Finds all records of a type, in the order of their keys. Outdated ones are rewritten.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - limit: The maximum number of records; nil for all.
  /// - Returns: The records.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func selectAll<Record: IndexKeyRecord>(
    of recordType: Record.Type = Record.self, limit: Int? = nil
  ) throws -> sending [Record] {
    try select(RecordSet<Record>.all.limited(to: limit))
  }

  /// Calls a closure with each record of a set, without keeping them in memory.
  ///
  /// Outdated records are migrated for the closure only; the stored bytes do not change.
  ///
  /// - Parameters:
  ///   - set: The set.
  ///   - body: Receives a record and returns whether to continue. It must not write in this
  ///     transaction.
  /// - Throws: The closure's error, or the same errors as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>, _ body: (Record) throws -> Bool
  ) throws {
    do {
      try forEachEntry(of: set) { key, value in
        var migration: Migration?
        if try !body(try decode(key: key, value: value, migration: &migration)) { throw StopScan() }
      }
    } catch is StopScan {}
  }

  /// Calls a closure with each record of a type, without keeping them in memory.
  ///
  /// Outdated records are migrated for the closure only; the stored bytes do not change.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - body: Receives a record and returns whether to continue. It must not write in this
  ///     transaction.
  /// - Throws: The closure's error, or the same errors as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    of recordType: Record.Type, _ body: (Record) throws -> Bool
  ) throws {
    try forEach(RecordSet<Record>.all, body)
  }

  /// Counts the records of a set. Does not read them.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`.
  public func count<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    var count = 0
    try forEachKey(of: set) { _ in count += 1 }
    return count
  }

  /// Counts the records of a type. Does not read them.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number.
  /// - Throws: `StoreError`, `MDBError`.
  public func count<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try count(RecordSet<Record>.all)
  }

  /// Deletes the records of a set without reading them.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number of deleted records.
  /// - Throws: `StoreError`, `SerializeError`, `MDBError`.
  @discardableResult
  public func delete<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    try checkWritable()
    var keys: [[UInt8]] = []
    // A list of values may contain the same value twice.
    var seen: Set<[UInt8]>? = try set.keyRanges.get().count > 1 ? [] : nil
    try forEachKey(of: set) { bytes in
      let key = [UInt8](bytes)
      if seen?.insert(key).inserted ?? true { keys.append(key) }
    }
    for key in keys { try key.withUnsafeBytes { try remove(Record.self, at: $0) } }
    return keys.count
  }

  /// Deletes all records of a type without reading them.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number of deleted records.
  /// - Throws: `StoreError`, `MDBError`.
  @discardableResult
  public func deleteAll<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try delete(RecordSet<Record>.all)
  }

  /// Changes the record with a key, if there is one.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - change: Changes the record. If it changes the key, the record moves and replaces any
  ///     record with the new key.
  /// - Returns: The changed record; nil if there is none with the key.
  /// - Throws: The closure's error, or the same errors as `select(key:)` and `insert(_:)`.
  @discardableResult
  @inlinable
  public func update<Record: IndexKeyRecord>(
    of recordType: Record.Type = Record.self, key: Record.IndexKey,
    _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    try checkWritable()
    let found: Record? = try select(key: key)
    guard var record = found else { return nil }
    // Migration may already have changed the key.
    let old = try withKey(of: record) { [UInt8]($0) }
    try change(&record)
    // Keys are their bytes: strings in different normal forms are equal, but not as keys.
    let isMoved = try withKey(of: record) { !$0.elementsEqual(old) }
    // Nothing is removed before the new record is stored: a caller may catch the error.
    try insert(record)
    if isMoved { try old.withUnsafeBytes { try remove(recordType, at: $0) } }
    return record
  }
}

// Entries.
extension TransactionContext {
  /// Calls a closure with the stored bytes of each record of a set. The closure must not write.
  @usableFromInline
  func forEachEntry<Record: IndexKeyRecord>(
    of set: RecordSet<Record>,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let index = set.index else { return try forEachEntryByKey(of: set, body) }
    let keyRanges = try checkedKeyRanges(of: set)
    try forEachKey(of: keyRanges, index: index, limit: set.limit) { key in
      guard let value = try storedValue(of: key) else { throw StoreError.indexDamaged }
      try body(key, value)
    }
  }

  /// Calls a closure with the key of each record of a set. The closure must not write.
  private func forEachKey<Record: IndexKeyRecord>(
    of set: RecordSet<Record>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard let index = set.index else {
      return try forEachEntryByKey(of: set) { key, _ in try body(key) }
    }
    try forEachKey(of: try checkedKeyRanges(of: set), index: index, limit: set.limit, body)
  }

  /// Calls a closure with the stored bytes of each record of a type. The closure must not write.
  @usableFromInline
  func forEachEntry<Record: IndexKeyRecord>(
    of recordType: Record.Type,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try forEachEntryByKey(of: RecordSet<Record>.all, body)
  }

  private func forEachEntryByKey<Record: IndexKeyRecord>(
    of set: RecordSet<Record>,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var rest = set.limit ?? .max
    for range in try checkedKeyRanges(of: set) where rest > 0 {
      try range.withBounds { start, end in
        guard range.isLookUp else {
          return try scan(
            core.records, range.direction, from: start, to: end, limit: &rest, body)
        }
        if let stored = try storedValue(of: start) {
          try body(start, stored)
          rest -= 1
        } else if range.mustExist {
          throw absenceError(Record.self, start)
        }
      }
    }
  }

  /// The key ranges of a set. Throws if the context has ended or the set is invalid.
  private func checkedKeyRanges<Record: IndexKeyRecord>(
    of set: RecordSet<Record>
  ) throws -> [RecordSet<Record>.KeyRange] {
    try checkActive()
    try checkType(Record.self)
    return try set.keyRanges.get()
  }
}

/// Thrown to end a scan early.
@usableFromInline
struct StopScan: Error {
  @usableFromInline init() {}
}
