// Sets of records in a store: what a transaction offers, each in a transaction of its own.

extension Store {
  /// Finds the records of a set, in a transaction of its own that reads. Only if some are outdated, or the set's index has to be built, one that
  /// writes is begun.
  ///
  /// - Parameter set: The set.
  /// - Returns: The records, in the order of the set.
  /// - Throws: As `TransactionContext.select(_:)`, and `CancellationError`.
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
  ///   - limit: At most so many, the first ones; nil for all.
  /// - Returns: The records.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func selectAll<Record: IndexKeyRecord>(
    of recordType: Record.Type = Record.self, limit: Int? = nil
  ) throws -> sending [Record] {
    try select(RecordSet<Record>.all.limited(to: limit))
  }

  /// Calls a closure with one record after the other of a set, without keeping them, in a transaction of its own that reads.
  ///
  /// - Parameters:
  ///   - set: The set.
  ///   - body: Gets a record, and returns whether to go on. It must not write in this store.
  /// - Throws: The closure's error, or as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    _ set: RecordSet<Record>, _ body: (Record) throws -> Bool
  ) throws {
    try withTransaction(readOnly: true) { try $0.forEach(set, body) }
  }

  /// Calls a closure with one record after the other of a type, without keeping them, in a transaction of its own that reads.
  ///
  /// - Parameters:
  ///   - recordType: The type of the records.
  ///   - body: Gets a record, and returns whether to go on. It must not write in this store.
  /// - Throws: The closure's error, or as `select(_:)`.
  @inlinable
  public func forEach<Record: IndexKeyRecord>(
    of recordType: Record.Type, _ body: (Record) throws -> Bool
  ) throws {
    try forEach(RecordSet<Record>.all, body)
  }

  /// How many records a set has, in a transaction of its own. They are not read, unless the set's index has to be built.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number.
  /// - Throws: As `TransactionContext.count(_:)`, and `CancellationError`.
  public func count<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    if let open = openTransaction { return try open.count(set) }
    let count: Int? = try withTransaction(readOnly: true) { context in
      try context.hasIndex(of: set) ? try context.count(set) : nil
    }
    if let count { return count }
    return try withTransaction { try $0.count(set) }
  }

  /// How many records of a type there are, in a transaction of its own. They are not read.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number.
  /// - Throws: As `TransactionContext.count(of:)`, and `CancellationError`.
  public func count<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try count(RecordSet<Record>.all)
  }

  /// Deletes the records of a set, in a transaction of its own. They are not read.
  ///
  /// - Parameter set: The set.
  /// - Returns: How many there were.
  /// - Throws: As `TransactionContext.delete(_:)`, and `CancellationError`.
  @discardableResult
  public func delete<Record: IndexKeyRecord>(_ set: RecordSet<Record>) throws -> Int {
    try withTransaction { try $0.delete(set) }
  }

  /// Deletes all records of a type, in a transaction of its own. They are not read.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: How many there were.
  /// - Throws: As `TransactionContext.deleteAll(of:)`, and `CancellationError`.
  @discardableResult
  public func deleteAll<Record: IndexKeyRecord>(of recordType: Record.Type) throws -> Int {
    try withTransaction { try $0.deleteAll(of: recordType) }
  }

  /// Changes the record with a key, if there is one, in a transaction of its own.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - change: Changes the record. If it changes the key, the record moves, in place of one that is there.
  /// - Returns: The changed record; nil if there is none with the key.
  /// - Throws: As `TransactionContext.update(of:key:_:)`, and `CancellationError`.
  @discardableResult
  @inlinable
  public func update<Record: IndexKeyRecord>(
    of recordType: Record.Type = Record.self, key: Record.IndexKey,
    _ change: (inout Record) throws -> Void
  ) throws -> Record? {
    // It is handed out beside the transaction's result, which nothing else may refer to: the closure may.
    var changed: Record?
    try withTransaction { changed = try $0.update(of: recordType, key: key, change) }
    return changed
  }
}
