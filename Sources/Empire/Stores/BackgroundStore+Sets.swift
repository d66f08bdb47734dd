// Operations on single records and on sets of records in a background store, each in its own
// transaction.

extension BackgroundStore {
  /// Stores a record, replacing one with the same key.
  ///
  /// - Parameter record: The record.
  /// - Throws: The same errors as `Store.insert(_:)`.
  public nonisolated func insert<Record: IndexKeyRecord & Sendable>(_ record: Record) async throws {
    try await withTransaction { try $0.insert(record) }
  }

  /// Finds the record with a key. An outdated one is rewritten.
  ///
  /// - Parameter key: The complete key.
  /// - Returns: The record; nil if there is none.
  /// - Throws: The same errors as `Store.select(key:)`.
  public nonisolated func select<Record: IndexKeyRecord & Sendable>(
    key: Record.IndexKey
  ) async throws -> Record? where Record.IndexKey: Sendable {
    let set = RecordSet<Record>.key(key)
    return try await select(set).first
  }

  /// Finds the records of a set. Outdated ones are rewritten.
  ///
  /// - Parameter set: The set.
  /// - Returns: The records, in the order of the set.
  /// - Throws: The same errors as `Store.select(_:)`.
  public nonisolated func select<Record: IndexKeyRecord & Sendable>(
    _ set: RecordSet<Record>
  ) async throws -> [Record] {
    let found: [Record]? = try await withTransaction(readOnly: true) { context in
      guard try context.hasIndex(of: set) else { return nil }
      var hasOutdated = false
      let records = try context.select(set, hasOutdated: &hasOutdated)
      return hasOutdated ? nil : records
    }
    if let found { return found }
    return try await withTransaction { try $0.select(set) }
  }

  /// All records of a type, in the order of their keys.
  ///
  /// - Parameters:
  ///   - recordType: The type.
  ///   - limit: The maximum number of records; nil for all.
  /// - Returns: The records.
  /// - Throws: The same errors as `Store.select(_:)`.
  public nonisolated func selectAll<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type = Record.self, limit: Int? = nil
  ) async throws -> [Record] {
    try await select(RecordSet<Record>.all.limited(to: limit))
  }

  /// Counts the records of a set. Does not read them, unless the set's index has to be built.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number.
  /// - Throws: The same errors as `Store.count(_:)`.
  public nonisolated func count<Record: IndexKeyRecord & Sendable>(
    _ set: RecordSet<Record>
  ) async throws -> Int {
    let count: Int? = try await withTransaction(readOnly: true) { context in
      try context.hasIndex(of: set) ? try context.count(set) : nil
    }
    if let count { return count }
    return try await withTransaction { try $0.count(set) }
  }

  /// Counts the records of a type. Does not read them.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number.
  /// - Throws: The same errors as `Store.count(of:)`.
  public nonisolated func count<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type
  ) async throws -> Int {
    try await count(RecordSet<Record>.all)
  }

  /// Deletes the record with the key of a record.
  ///
  /// - Parameter record: The record. Its fields are ignored.
  /// - Throws: The same errors as `Store.delete(_:)`.
  public nonisolated func delete<Record: IndexKeyRecord & Sendable>(_ record: Record) async throws {
    try await withTransaction { try $0.delete(record) }
  }

  /// Deletes the records of a set without reading them.
  ///
  /// - Parameter set: The set.
  /// - Returns: The number of deleted records.
  /// - Throws: The same errors as `Store.delete(_:)`.
  @discardableResult
  public nonisolated func delete<Record: IndexKeyRecord & Sendable>(
    _ set: RecordSet<Record>
  ) async throws -> Int {
    try await withTransaction { try $0.delete(set) }
  }

  /// Deletes all records of a type without reading them.
  ///
  /// - Parameter recordType: The type.
  /// - Returns: The number of deleted records.
  /// - Throws: The same errors as `Store.deleteAll(of:)`.
  @discardableResult
  public nonisolated func deleteAll<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type
  ) async throws -> Int {
    try await delete(RecordSet<Record>.all)
  }

  /// Changes the record with a key, if there is one.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - change: Changes the record; it may run more than once. If it changes the key, the record
  ///     moves and replaces any record with the new key.
  /// - Returns: The changed record; nil if there is none with the key.
  /// - Throws: The same errors as `Store.update(of:key:_:)`.
  @discardableResult
  public nonisolated func update<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type = Record.self, key: Record.IndexKey,
    _ change: @escaping @Sendable (inout Record) throws -> Void
  ) async throws -> Record? where Record.IndexKey: Sendable {
    try await withTransaction { try $0.update(of: recordType, key: key, change) }
  }
}
