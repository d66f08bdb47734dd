// Queries by an index. The bounds are those of a query by key, after the index's prefix. Each entry
// contains the key of a record.
//
// If the index is missing and the transaction is read-only, the records themselves are sorted, so
// the result is the same.

internal import LMDB

extension TransactionContext {
  /// Finds the records that a query of an index describes. Called by code that `@Index` generates;
  /// it does not check types.
  ///
  /// In a writing transaction, the first query of an incomplete index builds it. In a read-only
  /// transaction, all records of the type are read and sorted instead.
  ///
  /// - Parameters:
  ///   - query: The query; its components are those of the index.
  ///   - index: The position of the index in the type's `indexTags`.
  /// - Returns: The records, in the order of the operator; those with equal values in the order of
  ///   their keys.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func _select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, index: Int
  ) throws -> sending [Record] {
    try select(RecordSet<Record>._query(query, index: index))
  }

  /// Whether the index of a set is complete. True if the set needs no index.
  @usableFromInline
  func hasIndex<Record: IndexKeyRecord>(of set: RecordSet<Record>) throws -> Bool {
    guard let index = set.index else { return true }
    return try completeIndex(Record.self, index) != nil
  }

  private func completeIndex<Record: IndexKeyRecord>(
    _ recordType: Record.Type, _ index: Int
  ) throws -> MDB_dbi? {
    try completeIndex(Record.keyPrefix, Record.fieldsVersion, Record.indexTags[index])
  }

  /// Calls a closure with the key of each record of a set in the order of an index. The closure
  /// must not write.
  @usableFromInline
  func forEachKey<Record: IndexKeyRecord>(
    of keyRanges: [RecordSet<Record>.KeyRange], index: Int, limit: Int?,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var dbi = try completeIndex(Record.self, index)
    if dbi == nil && !isReading {
      try buildIndexes(Record.self)
      dbi = try completeIndex(Record.self, index)
    }
    var rest = limit ?? .max
    if let dbi {
      for range in keyRanges where rest > 0 {
        try range.withBounds { start, end in
          try scan(dbi, range.direction, from: start, to: end, limit: &rest) { _, key in
            try body(key)
          }
        }
      }
    } else {
      let sorted = try sortedEntries(Record.self, index: index)
      for range in keyRanges where rest > 0 {
        try range.scan(sorted, limit: &rest) { key in try key.withUnsafeBytes { try body($0) } }
      }
    }
  }

  /// All records of a type in the order of an index: the entry and the key of each.
  private func sortedEntries<Record: IndexKeyRecord>(
    _ recordType: Record.Type, index: Int
  ) throws -> [(entry: [UInt8], key: [UInt8])] {
    var all: [(entry: [UInt8], key: [UInt8])] = []
    try forEachEntry(of: recordType) { key, value in
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      all.append((try record.entry(ofIndex: index), [UInt8](key)))
    }
    all.sort {
      $0.entry == $1.entry
        ? $0.key.lexicographicallyPrecedes($1.key)
        : $0.entry.lexicographicallyPrecedes($1.entry)
    }
    return all
  }
}

extension RecordSet.KeyRange {
  /// Calls a closure with both bounds.
  @inlinable
  func withBounds(
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    try start.withUnsafeBytes { start in try end.withUnsafeBytes { end in try body(start, end) } }
  }

  /// The equivalent of `TransactionContext.scan` for entries in memory.
  fileprivate func scan(
    _ sorted: [(entry: [UInt8], key: [UInt8])], limit: inout Int, _ body: ([UInt8]) throws -> Void
  ) rethrows {
    let descends = direction == .below || direction == .atOrBelow
    for position in sorted.indices where limit > 0 {
      let item = sorted[descends ? sorted.count - 1 - position : position]
      guard contains(item.entry) else { continue }
      try body(item.key)
      limit -= 1
    }
  }

  private func contains(_ entry: [UInt8]) -> Bool {
    let (fromStart, fromEnd) = (Self.order(of: entry, to: start), Self.order(of: entry, to: end))
    return switch direction {
    case .above: fromStart > 0 && fromEnd <= 0
    case .atOrAbove: fromStart >= 0 && fromEnd <= 0
    case .upTo: fromStart >= 0 && fromEnd < 0
    case .below: fromStart < 0 && fromEnd >= 0
    case .atOrBelow: fromStart <= 0 && fromEnd >= 0
    }
  }

  /// Negative, 0 or positive as an entry is below, equal to or above a bound. Compares only as many
  /// bytes as the bound has.
  private static func order(of entry: [UInt8], to bound: [UInt8]) -> Int {
    let head = entry.prefix(bound.count)
    if head.elementsEqual(bound) { return 0 }
    return head.lexicographicallyPrecedes(bound) ? -1 : 1
  }
}

extension Store {
  /// Finds the records that a query of an index describes. Called by code that `@Index` generates;
  /// it does not check types.
  ///
  /// - Parameters:
  ///   - query: The query; its components are those of the index.
  ///   - index: The position of the index in the type's `indexTags`.
  /// - Returns: The records, in the order of the operator; those with equal values in the order of
  ///   their keys.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func _select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, index: Int
  ) throws -> sending [Record] {
    try select(RecordSet<Record>._query(query, index: index))
  }
}
