// Queries by an index: the bounds are those of a query by key, behind the index's head; each entry names a record.
//
// Where the index is missing and nothing may be written, the records themselves are sorted, so the answer is the same.

public import LMDB

extension TransactionContext {
  /// Finds the records that a query of an index describes. What `@Index` generates calls it.
  ///
  /// The first query of an index that is not complete builds it, in a transaction that writes; in one that only reads, all records of
  /// the type are read and sorted instead.
  ///
  /// - Parameters:
  ///   - query: The query; its components are those of the index.
  ///   - index: The position of the index in the type's `indexTags`.
  /// - Returns: The records, in the order that the operator has; those with equal values in the order of their keys.
  /// - Throws: `StoreError`, `SerializeError`, `DeserializeError`, `MDBError`, or what a migration throws.
  @inlinable
  public func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, index: Int
  ) throws -> sending [Record] {
    var isMissing = false
    return try select(query: query, index: index, isMissing: &isMissing)
  }

  /// Finds the records that a query of an index describes, and says whether the index was missing.
  @inlinable
  func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, index: Int, isMissing: inout Bool
  ) throws -> sending [Record] {
    let tag = Record.indexTags[index]
    var dbi = try completeIndex(Record.keyPrefix, Record.fieldsVersion, tag)
    isMissing = dbi == nil
    if isMissing && !isReading {
      try buildIndexes(Record.self)
      dbi = try completeIndex(Record.keyPrefix, Record.fieldsVersion, tag)
    }
    // Nothing else refers to the records: each has just been read. The compiler loses sight of that in the closure.
    nonisolated(unsafe) var records: [Record] = []
    let head = IndexFile.head(Record.keyPrefix, tag)
    if let dbi {
      try forEachStretch(of: query, head: head) { direction, start, end, rest in
        try scan(dbi, direction, from: start, to: end, limit: &rest) { _, key in
          guard let value = try storedValue(of: key) else { throw StoreError.indexDamaged }
          var migration: Migration?
          records.append(try decode(key: key, value: value, migration: &migration))
        }
      }
    } else {
      let sorted = try sortedRecords(Record.self, index: index)
      try forEachStretch(of: query, head: head) { direction, start, end, rest in
        scan(sorted, direction, from: start, to: end, limit: &rest) { records.append($0) }
      }
    }
    return records
  }

  /// All records of a type in the order of an index, each with its entry.
  @inlinable
  func sortedRecords<Record: IndexKeyRecord>(
    _ recordType: Record.Type, index: Int
  ) throws -> [(entry: [UInt8], record: Record)] {
    var all: [(entry: [UInt8], key: [UInt8], record: Record)] = []
    try forEachEntry(of: recordType, limit: nil) { key, value in
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      all.append((try record.entry(ofIndex: index), [UInt8](key), record))
    }
    all.sort {
      $0.entry == $1.entry
        ? $0.key.lexicographicallyPrecedes($1.key)
        : $0.entry.lexicographicallyPrecedes($1.entry)
    }
    return all.map { ($0.entry, $0.record) }
  }

  /// What `scan` does with a database, with records in memory.
  @inlinable
  func scan<Record>(
    _ sorted: [(entry: [UInt8], record: Record)], _ direction: ScanDirection,
    from start: UnsafeRawBufferPointer, to end: UnsafeRawBufferPointer, limit: inout Int,
    _ body: (Record) -> Void
  ) {
    func isInside(_ entry: [UInt8]) -> Bool {
      let (fromStart, fromEnd) = (order(of: entry, to: start), order(of: entry, to: end))
      return switch direction {
      case .above: fromStart > 0 && fromEnd <= 0
      case .atOrAbove: fromStart >= 0 && fromEnd <= 0
      case .upTo: fromStart >= 0 && fromEnd < 0
      case .below: fromStart < 0 && fromEnd >= 0
      case .atOrBelow: fromStart <= 0 && fromEnd >= 0
      }
    }
    let descends = direction == .below || direction == .atOrBelow
    for position in sorted.indices where limit > 0 {
      let item = sorted[descends ? sorted.count - 1 - position : position]
      guard isInside(item.entry) else { continue }
      body(item.record)
      limit -= 1
    }
  }

  /// Below, at or above 0 as an entry is below, equal to or above a bound, compared by as many bytes as the bound has.
  @usableFromInline
  func order(of entry: [UInt8], to bound: UnsafeRawBufferPointer) -> Int {
    let head = entry.prefix(bound.count)
    if head.elementsEqual(bound) { return 0 }
    return head.lexicographicallyPrecedes(bound) ? -1 : 1
  }
}

extension Store {
  /// Finds the records that a query of an index describes, in a transaction of its own that reads. Only if the index is not complete, it is
  /// built in one that writes.
  ///
  /// - Parameters:
  ///   - query: The query; its components are those of the index.
  ///   - index: The position of the index in the type's `indexTags`.
  /// - Returns: The records, in the order that the operator has; those with equal values in the order of their keys.
  /// - Throws: As `TransactionContext.select(query:index:)`, and `CancellationError`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, index: Int
  ) throws -> sending [Record] {
    if let open = openTransaction { return try open.select(query: query, index: index) }
    let found: [Record]? = try withTransaction(readOnly: true) { context in
      let tag = Record.indexTags[index]
      guard try context.completeIndex(Record.keyPrefix, Record.fieldsVersion, tag) != nil else {
        return nil
      }
      return try context.select(query: query, index: index)
    }
    if let found { return found }
    return try withTransaction { try $0.select(query: query, index: index) }
  }
}
