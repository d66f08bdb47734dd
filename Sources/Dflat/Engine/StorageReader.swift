// StorageReader: a view of one state of the storage.
//
// An engine has to implement `rows`. Everything else has a default over it, which gives the same
// answers; engines implement what they can do with less work. What is looked up in other ways is
// spelled here, once for all engines.

/// A view of one state. Used by one thread at a time.
package protocol StorageReader: AnyObject {
  /// The rows of a request; they carry `mark`. Empty if the storage or the table does not exist.
  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer
  /// Calls `body` with each row of a request, in order, until it returns false.
  ///
  /// - Parameters:
  ///   - request: The rows. With a form of columns it is a query.
  ///   - form: What is wanted of them.
  ///   - body: Does not use the storage.
  /// - Returns: False if no key or index has what the form asks for; `body` was not called then.
  ///   Always true for the bytes and ids of rows.
  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool
  /// Reads the rows of a query from two threads at once, because there are many.
  ///
  /// - Parameters:
  ///   - query: A query without limit, offset, start and order.
  ///   - prepare: Makes what receives the rows. Called at most once, and only if two threads may
  ///     read them.
  /// - Returns: False if one thread has to read the rows, or can read the fields without the rows;
  ///   no row was given then.
  func scanConcurrently(_ query: Query, _ prepare: () -> ConcurrentScan) throws -> Bool
  /// The number of rows of a query's result, without reading the rows; nil if that is impossible.
  func count(_ query: Query) throws -> Int?
  /// The greatest row id of a type; nil if there are no rows.
  func lastID(of schema: EntitySchema) throws -> Int64?
  /// How a query would be answered.
  func explain(_ query: Query) throws -> QueryExplanation
}

// MARK: - Defaults

extension StorageReader {
  /// Collects the rows, and passes them on.
  package func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    if form.isOfColumns { return false }
    try scanCollected(request, body)
    return true
  }

  /// Collects the rows of a request, and passes them on: for a query that must be sorted, or is
  /// answered with a single row.
  package func scanCollected(
    _ request: ReadRequest, _ body: (ScannedRow) throws -> Bool
  ) throws {
    guard case .keys(let schema, let keys) = request else {
      let rows = try rows(request, mark: .none)
      for index in 0..<rows.count {
        let row = rows[index]
        if try !row.withBytes({ try body(ScannedRow(id: row.id, $0)) }) { return }
      }
      return
    }
    for (place, key) in keys.enumerated() {
      guard let key, let row = try row(of: schema, with: key) else { continue }
      if try !row.withBytes({ try body(ScannedRow(id: row.id, place: place, $0)) }) { return }
    }
  }

  /// The rows with some keys, looked up one after the other.
  package func rows(
    of schema: EntitySchema, oneByOne keys: KeyList, mark: ReadMark
  ) throws -> RowBuffer {
    var found = RowBuffer()
    for case let key? in keys {
      if let row = try rows(.key(schema, key), mark: mark).onlyRow() { found.append(row) }
    }
    return found
  }

  /// False: one thread reads them.
  package func scanConcurrently(_ query: Query, _ prepare: () -> ConcurrentScan) throws -> Bool {
    false
  }

  /// nil: it always reads rows.
  package func count(_ query: Query) throws -> Int? { nil }

  /// Reads all rows.
  package func lastID(of schema: EntitySchema) throws -> Int64? {
    let portion = 512
    var last: Int64?
    while true {
      let rows = try rows(.after(schema, id: last, limit: portion), mark: .none)
      if rows.count > 0 { last = rows[rows.count - 1].id }
      if rows.count < portion { return last }
    }
  }

  /// What holds for every engine: the condition may be evaluated row by row.
  package func explain(_ query: Query) throws -> QueryExplanation {
    QueryExplanation(
      statement: nil, plan: ["the rows of \(query.schema.table)"], indexes: [], of: query.schema,
      rowByRow: query.condition.map { $0.text(in: query.schema) },
      isSortedInMemory: !query.order.isEmpty)
  }
}

// MARK: - Spellings

extension StorageReader {
  /// The row with an id.
  package func row(of schema: EntitySchema, id: Int64) throws -> Row? {
    try rows(.id(schema, id), mark: .none).onlyRow()
  }

  /// The row with the primary key that `row` has.
  package func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? {
    try rows(.keyOf(schema, row), mark: .none).onlyRow()
  }

  /// The row with a primary key; nil if there is none.
  package func row(of schema: EntitySchema, with key: KeyValues) throws -> Row? {
    try rows(.key(schema, key), mark: .none).onlyRow()
  }

  /// The rows with some keys, in the order of the keys; nil for keys without a row.
  package func rows(
    of schema: EntitySchema, with keys: [KeyValues], mark: ReadMark = .none
  ) throws -> [Row?] {
    var found = [Row?](repeating: nil, count: keys.count)
    _ = try scan(.keys(schema, .values(keys)), .rows) { row in
      found[row.number] = Row(sound: row.bytes, id: row.id, mark: mark)
      return true
    }
    return found
  }

  /// The ids of the rows with some primary keys, in the order of the keys: nil for a key without a
  /// row, and for each key that is nil.
  package func ids(of schema: EntitySchema, with keys: KeyList) throws -> [Int64?] {
    var ids = [Int64?](repeating: nil, count: keys.count)
    _ = try scan(.keys(schema, keys), .ids) { row in
      ids[row.number] = row.id
      return true
    }
    return ids
  }

  /// The ids of the rows of a query's result, in order.
  package func ids(_ query: Query) throws -> [Int64] {
    var ids: [Int64] = []
    _ = try scan(.query(query), .ids) { row in
      ids.append(row.id)
      return true
    }
    return ids
  }
}
