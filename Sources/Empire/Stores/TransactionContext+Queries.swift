// Queries: from components to bytes, from bytes to a cursor, from entries to records.
//
// P is the type's tag with the fixed components. Entries are compared with a bound by the bound's bytes, so what follows the queried
// component does not matter.

public import LMDB

extension TransactionContext {
  /// Finds the records that a query describes.
  ///
  /// Outdated records among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: `MDBError.recordNotFound` if `within` names a complete key that is absent; `StoreError`, `SerializeError`,
  ///   `DeserializeError`, `MDBError`, or what a migration throws.
  @inlinable
  public func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record] {
    var hasOutdated = false
    return try select(query: query, hasOutdated: &hasOutdated)
  }

  /// Finds the records that a query describes, and says whether one was stored by another version of its type.
  @inlinable
  func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>, hasOutdated: inout Bool
  ) throws -> sending [Record] {
    // Nothing else refers to the records: each has just been read. The compiler loses sight of that in the closure.
    nonisolated(unsafe) var records: [Record] = []
    var migrated: [(Migration, Int)] = []
    try forEachEntry(of: query, recordType: Record.self) { key, value in
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

  /// Calls a closure with the stored bytes of each record that a query describes. It must not write.
  @inlinable
  func forEachEntry<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    of query: Query<repeat each Component, Last>, recordType: Record.Type,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var componentCount = Last.keyComponentCount
    for type in repeat (each Component).self { componentCount += type.keyComponentCount }
    let isComplete = componentCount == Record.IndexKey.keyComponentCount
    let isList = if case .within = query.last { true } else { false }
    try forEachStretch(of: query, head: Record.keyPrefix) { direction, start, end, rest in
      // Equal bounds of a complete key: one look-up.
      guard isComplete, direction == .atOrAbove, start.elementsEqual(end) else {
        return try scan(core.records, direction, from: start, to: end, limit: &rest, body)
      }
      if let stored = try storedValue(of: start) {
        try body(start, stored)
        rest -= 1
      } else if isList {
        throw MDBError.recordNotFound
      }
    }
  }

  /// Calls a closure with the bounds of each stretch of sorted keys that a query describes, until its limit is reached.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - head: What stands before the components.
  ///   - body: Gets how to go from the first bound to the second one, and how many entries are still wanted.
  @inlinable
  func forEachStretch<each Component: QueryComponent, Last: QueryComponent>(
    of query: Query<repeat each Component, Last>, head: some KeyHead,
    _ body: (
      ScanDirection, UnsafeRawBufferPointer, UnsafeRawBufferPointer, inout Int
    ) throws -> Void
  ) throws {
    var rest = query.limit ?? .max

    /// Calls a closure with the bytes of a bound: the head, the fixed components and a value.
    func withBound(_ value: Last?, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      try withKey { writer in
        head.write(to: &writer)
        repeat (each query.components).serializeKey(to: &writer)
        value?.serializeKey(to: &writer)
      } body: {
        try body($0)
      }
    }

    /// Calls the body with both bounds, which are checked also where nothing is wanted.
    func withBounds(_ first: Last, _ second: Last?) throws {
      try withBound(first) { start in
        try withBound(second) { end in
          try checkActive()
          if rest > 0 { try body(query.last.direction, start, end, &rest) }
        }
      }
    }

    switch query.last {
    case .within(let values):
      try withBound(nil) { _ in try checkActive() }
      for value in values where rest > 0 {
        try withBound(value) { try body(.atOrAbove, $0, $0, &rest) }
      }
    case .range(let range): try withBounds(range.lowerBound, range.upperBound)
    case .closedRange(let range): try withBounds(range.lowerBound, range.upperBound)
    case .greaterThan(let value), .greaterOrEqual(let value), .lessThan(let value),
      .lessOrEqual(let value):
      try withBounds(value, nil)
    }
  }

  /// Calls a closure with each entry from one bound to another one, at most `limit` of them.
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

/// What stands before the components of keys.
@usableFromInline
protocol KeyHead {
  func write(to writer: inout KeyWriter)
}

/// The tag of a type, before the keys of its records.
extension IndexKeyRecordHash: KeyHead {
  @inlinable func write(to writer: inout KeyWriter) { writer.write(bigEndian) }
}

/// Any bytes, before the entries of an index.
extension [UInt8]: KeyHead {
  @inlinable func write(to writer: inout KeyWriter) { withUnsafeBytes { writer.write(bytes: $0) } }
}

/// How a scan goes from its start to its end.
@usableFromInline
enum ScanDirection {
  case above, atOrAbove, below, atOrBelow
  /// Ascending, without the end.
  case upTo
}

extension ComparisonOperator where Value: QueryComponent {
  /// How the operator goes through the keys.
  @inlinable var direction: ScanDirection {
    switch self {
    case .greaterThan: .above
    case .greaterOrEqual, .within, .closedRange: .atOrAbove
    case .range: .upTo
    case .lessThan: .below
    case .lessOrEqual: .atOrBelow
    }
  }
}
