// Operations on sets of records in a store, each in its own transaction.

extension Store {
  /// Finds the records of a set, in its own read-only transaction. A writing transaction follows
  /// only if some records are outdated or the set's index has to be built.
  ///
  /// - Parameter set: The set.
  /// - Returns: The records, in the order of the set.
  /// - Throws: The same errors as `TransactionContext.select(_:)`, and `CancellationError`.
  @inlinable
  public func select<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>
  ) throws -> sending [Record] {
    if let open = openTransaction { return try open.select(set) }
    let found: [Record]? = try withTransaction(readOnly: true) { context in
      guard try context.hasIndex(of: set) else { return nil }
      var hasOutdated = false
      let records = try context.select(set, hasOutdated: &hasOutdated)
      return hasOutdated ? nil : records
    }
    if let found { return found }
    return try withTransaction { try $0.select(set) }
  }

  /// All records of a type, in the order of their keys, in a transaction of its own.
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

  /// Calls a closure with each record of a set, without keeping them in memory, in a read-only
  /// transaction of its own.
  ///
  /// - Parameters:
  ///   - set: The set.
  ///   - body: Receives a record and returns whether to continue. It must not write in this store.
  /// - Throws: The closure's error, or the same errors as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>, _ body: (Record) throws -> Bool
  ) throws {
    try withTransaction(readOnly: true) { try $0.forEach(set, body) }
  }

  /// Calls a closure with each record of a type, without keeping them in memory, in a read-only
  /// transaction of its own.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - body: Receives a record and returns whether to continue. It must not write in this store.
  /// - Throws: The closure's error, or the same errors as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    of recordType: Record.Type, _ body: (Record) throws -> Bool
  ) throws {
    try forEach(RecordSet<Record>.all, body)
  }

  /// Counts the records of a set, in a transaction of its own. Does not read them, unless the set's
  /// index has to be built.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number.
  /// - Throws: The same errors as `TransactionContext.count(_:)`, and `CancellationError`.
  public func count<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    if let open = openTransaction { return try open.count(set) }
    let count: Int? = try withTransaction(readOnly: true) { context in
      try context.hasIndex(of: set) ? try context.count(set) : nil
    }
    if let count { return count }
    return try withTransaction { try $0.count(set) }
  }

  /// Counts the records of a type, in a transaction of its own. Does not read them.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number.
  /// - Throws: The same errors as `TransactionContext.count(of:)`, and `CancellationError`.
  public func count<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try count(RecordSet<Record>.all)
  }

  /// Deletes the records of a set without reading them, in a transaction of its own.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number of deleted records.
  /// - Throws: The same errors as `TransactionContext.delete(_:)`, and `CancellationError`.
  @discardableResult
  public func delete<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    try withTransaction { try $0.delete(set) }
  }

  /// Deletes all records of a type without reading them, in a transaction of its own.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number of deleted records.
  /// - Throws: The same errors as `TransactionContext.deleteAll(of:)`, and `CancellationError`.
  @discardableResult
  public func deleteAll<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try withTransaction { try $0.deleteAll(of: recordType) }
  }

  /// Changes the record with a key, if there is one, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - change: Changes the record. If it changes the key, the record moves and replaces any
  ///     record with the new key.
  /// - Returns: The changed record; nil if there is none with the key.
  /// - Throws: The same errors as `TransactionContext.update(of:key:_:)`, and `CancellationError`.
  @discardableResult
  @inlinable
  public func update<Record: IndexKeyRecord>(
    of recordType: Record.Type = Record.self, key: Record.IndexKey,
    _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    // Returned through a captured variable, because a transaction's result must be `sending` and
    // the closure may still refer to the record.
    var changed: Record?
    try withTransaction { changed = try $0.update(of: recordType, key: key, change) }
    return changed
  }
}
