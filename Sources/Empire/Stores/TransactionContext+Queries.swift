// Queries: turns bounds into a cursor, and entries into records.

public import LMDB

extension TransactionContext {
  /// Finds the records that a query describes. Called by code that `@IndexKeyRecord` generates; it
  /// does not check types.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func _select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record] {
    var hasOutdated = false
    return try select(query: query, hasOutdated: &hasOutdated)
  }

  /// Finds the records that a query describes, and reports whether one was stored by another
  /// version of its type.
  @inlinable
  func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, hasOutdated: inout Bool
  ) throws -> sending [Record] {
    try collect(hasOutdated: &hasOutdated) { try forEachEntry(of: query, Record.self, $0) }
  }

  /// Reads the records of entries. Outdated ones are rewritten after all have been read, unless the
  /// context is read-only.
  @inlinable @inline(__always)
  func collect<Record: IndexKeyRecord>(
    hasOutdated: inout Bool,
    _ forEachEntry: (
      (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Void
  ) throws -> sending [Record] {
    // Sound: each record has just been decoded, so nothing else refers to it. The compiler cannot
    // see that through the closure.
    nonisolated(unsafe) var records: [Record] = []
    var migrated: [(Migration, Int)] = []
    try forEachEntry { key, value in
      var migration: Migration?
      records.append(try decode(key: key, value: value, migration: &migration))
      if let migration { migrated.append((migration, records.count - 1)) }
    }
    hasOutdated = !migrated.isEmpty
    if hasOutdated && !isReading {
      try rewrite(migrated.map { ($0.0, records[$0.1]) })
    }
    return records
  }

  /// Calls a closure with the stored bytes of each record that a query describes. The closure must
  /// not write.
  @inlinable
  func forEachEntry<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    of query: Query<repeat each Component, Last>, _ recordType: Record.Type,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    try checkType(recordType)
    try checkActive()
    let isComplete = query.isComplete(for: recordType)
    try query.forEachKeyRange(of: recordType, .key, head: Record.keyPrefix) {
      (direction, start, end, rest) in
      // Equal bounds of a complete key are a single lookup.
      guard isComplete, direction == .atOrAbove, start.elementsEqual(end) else {
        return try scan(core.records, direction, from: start, to: end, limit: &rest, body)
      }
      if let stored = try storedValue(of: start) {
        try body(start, stored)
        rest -= 1
      } else if query.isList {
        throw absenceError(recordType, start)
      }
    }
  }

  /// Calls a closure with each entry between two bounds, at most `limit` of them. Decrements
  /// `limit` for each.
  @usableFromInline
  func scan(
    _ dbi: MDB_dbi, _ direction: ScanDirection, from start: UnsafeRawBufferPointer,
    to end: UnsafeRawBufferPointer,
    limit: inout Int, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let end = MDB_val(buffer: end)
    let comparison: LMDB.ComparisonOperator =
      switch direction {
      case .above: .greater(end)
      case .atOrAbove: .greaterOrEqual(end)
      case .below: .less(end)
      case .atOrBelow: .lessOrEqual(end)
      case .upTo: .range(end)
      }
    let query = LMDB.Query(
      comparison: comparison, key: MDB_val(buffer: start), limit: limit, truncating: true)
    try Cursor(transaction: transaction, dbi: dbi, query: query).forEachEntry { key, value in
      try body(key.bufferPointer, value.bufferPointer)
      limit -= 1
    }
  }
}
