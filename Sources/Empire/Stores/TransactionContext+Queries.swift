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
      let record: Record = try decode(key: key, value: value, migration: &migration)
      if let migration { migrated.append((migration, records.count)) }
      records.append(record)
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
    var rest = query.limit ?? .max
    // The types' prefix and the fixed components.
    var prefixSize = 4
    var componentCount = Last.keyComponentCount
    for component in repeat each query.components {
      try component.validate(as: .key)
      prefixSize += component.serializedKeySize
    }
    for type in repeat (each Component).self { componentCount += type.keyComponentCount }
    let isComplete = componentCount == Record.IndexKey.keyComponentCount
    let (first, second) = try query.last.bounds()
    guard prefixSize <= maximumKeySize else { throw StoreError.keyBufferOverflow }
    try checkActive()
    if rest <= 0 { return }

    func writePrefix(to room: inout UnsafeMutableRawBufferPointer) {
      writeTag(Record.keyPrefix, to: &room)
      for component in repeat each query.components { component.serializeKey(into: &room) }
    }
    /// Calls a closure with the bytes of a bound.
    func withBound(_ value: Last?, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
      try withKey(size: prefixSize - 4 + (value?.serializedKeySize ?? 0)) { room in
        let bytes = UnsafeRawBufferPointer(room)
        writePrefix(to: &room)
        value?.serializeKey(into: &room)
        try body(bytes)
      }
    }

    switch query.last {
    case .within(let values):
      for value in values {
        if rest == 0 { return }
        try value.validate(as: .key)
        try withBound(value) { bound in
          if isComplete {
            guard let stored = try storedValue(of: bound) else { throw MDBError.recordNotFound }
            try body(bound, stored)
            rest -= 1
          } else {
            try scan(.atOrAbove, from: bound, to: bound, limit: &rest, body)
          }
        }
      }
    case .range, .closedRange:
      try withBound(first) { start in
        try withBound(second) { end in
          if case .range = query.last {
            try scan(.upTo, from: start, to: end, limit: &rest, body)
          } else if isComplete && first == second {
            if let stored = try storedValue(of: start) { try body(start, stored) }
          } else {
            try scan(.atOrAbove, from: start, to: end, limit: &rest, body)
          }
        }
      }
    case .greaterThan, .greaterOrEqual, .lessThan, .lessOrEqual:
      try withBound(first) { start in
        try withBound(nil) { end in
          try scan(query.last.direction, from: start, to: end, limit: &rest, body)
        }
      }
    }
  }

  /// Calls a closure with each entry from one bound to another one, at most `limit` of them.
  @usableFromInline
  func scan(
    _ direction: ScanDirection, from start: UnsafeRawBufferPointer, to end: UnsafeRawBufferPointer,
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
    var cursor = try Cursor(transaction: transaction, dbi: core.records, query: query)
    while let (key, value) = try cursor.advance() {
      try body(key.bufferPointer, value.bufferPointer)
      limit -= 1
    }
  }
}

/// How a scan goes from its start to its end.
@usableFromInline
enum ScanDirection {
  case above, atOrAbove, below, atOrBelow
  /// Ascending, without the end.
  case upTo
}

extension ComparisonOperator where Value: QueryComponent {
  /// The operands, checked. A list has none: its values are looked up one by one.
  @inlinable
  func bounds() throws(SerializeError) -> (Value?, Value?) {
    let bounds: (Value?, Value?) =
      switch self {
      case .greaterThan(let value), .greaterOrEqual(let value), .lessThan(let value),
        .lessOrEqual(let value):
        (value, nil)
      case .range(let range): (range.lowerBound, range.upperBound)
      case .closedRange(let range): (range.lowerBound, range.upperBound)
      case .within: (nil, nil)
      }
    try bounds.0?.validate(as: .key)
    try bounds.1?.validate(as: .key)
    return bounds
  }

  /// The direction of an operator with one operand.
  @inlinable var direction: ScanDirection {
    switch self {
    case .greaterThan: .above
    case .greaterOrEqual, .within, .range, .closedRange: .atOrAbove
    case .lessThan: .below
    case .lessOrEqual: .atOrBelow
    }
  }
}
