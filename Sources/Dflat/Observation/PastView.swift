// PastView: the data as they were at a point of a type's deliveries.
//
// Deliveries run after commits, and later transactions may have committed in the meantime. The past
// state is the stored state minus what was committed later and is not delivered yet. Invariants:
//
//  - the list of undelivered changes is read after the snapshot was taken, and while no commit of
//    the type is in progress. So it holds all changes by which the snapshot is ahead. If it holds
//    later ones, too, the snapshot has their rows as they were, as the list does, unless another
//    connection has changed them in between: what they become is delivered next in any case;
//  - for each row that was changed later, the first of its changes has the row as it was before.
//
// A row of which another connection has made something else since the last of these changes is
// overtaken: the view shows it as it was, and the deliveries that follow end with what the last
// change has made of it. So it must be read again behind them.
//
// Its rows are handed out to subscribers, so they carry the mark of rows that were not fetched.
//
// So a subscription can be compared with the data at its own position in the delivery order,
// without blocking any writer.

/// Used by one delivery, on its thread.
final class PastView {
  let schema: EntitySchema
  let snapshot: any StorageSnapshot
  /// The earlier versions of the rows that were changed later; nil for rows that did not exist.
  let earlier: [Int64: Row?]
  /// What the changes make of these rows; nil for rows that are removed.
  private let latest: [Int64: Row?]
  /// The workspace that is observed.
  let workspace: any TransactionHost

  convenience init(of type: TypeObservers, in workspace: any TransactionHost) throws {
    self.init(of: type, try Self.snapshot(of: [type], in: workspace), in: workspace)
  }

  /// - Parameter snapshot: What `snapshot(of:in:)` gives, for this type among others.
  init(
    of type: TypeObservers, _ snapshot: any StorageSnapshot, in workspace: any TransactionHost
  ) {
    schema = type.schema
    self.workspace = workspace
    self.snapshot = snapshot
    (earlier, latest) = type.undelivered()
  }

  /// A snapshot that has begun. The changes of some types by which it is ahead are recorded.
  static func snapshot(
    of types: [TypeObservers], in workspace: any TransactionHost
  ) throws -> any StorageSnapshot {
    for type in types { try workspace.requireMigrated(type.schema) }
    let snapshot = workspace.engine.makeSnapshot(for: .observation)
    do {
      // The first read begins the snapshot. No row has this id.
      _ = try snapshot.read { try $0.row(of: types[0].schema, id: -1) }
    } catch {
      snapshot.close()
      throw error
    }
    for type in types { workspace.coordinator.awaitCommit(of: [type.schema]) }
    return snapshot
  }

  func close() {
    snapshot.close()
  }

  /// Reports an error that does not end the reading.
  func report(_ error: any Error) { workspace.reportReading(error) }

  /// The result of a query, without its offset. A row for which a function fails does not match,
  /// and the error is reported.
  func result(of query: Query) throws -> ArraySlice<Row> {
    let wider = Query(
      schema: schema, condition: query.condition, order: query.order,
      limit: query.limitWithOffset)
    return Array(try rows(wider).rows).dropFirst(query.offset)
  }

  /// The result of a query without an offset. A row for which a function fails does not match, and
  /// the error is reported.
  /// - Returns: The rows, and whether they are all, that is, the query's limit cuts off none.
  func rows(_ query: Query) throws -> (rows: ContiguousArray<Row>, isComplete: Bool) {
    // Each row that was changed later may displace a row that is wanted.
    let limit = query.limit.map { min($0, Int.max / 2) + earlier.count }
    let failures = FunctionFailures()
    let wider = Query(
      schema: schema, condition: query.condition, order: query.order, limit: limit
    ).tolerating(failures)
    defer { if let error = failures.take(schema) { report(error) } }
    var rows = ContiguousArray(
      try snapshot.read { try $0.rows(.query(wider), mark: workspace.unread).map { $0 } })
    var isComplete = limit.map { rows.count < $0 } ?? true
    if !earlier.isEmpty {
      rows.removeAll { earlier.keys.contains($0.id) }
      addEarlierMatches(query, &rows, failures)
    }
    if let limit = query.limit, rows.count > limit {
      rows.removeSubrange(limit...)
      isComplete = false
    }
    return (rows, isComplete)
  }

  /// Whether the order of a query cannot be known in this state: an index gives the relevance of
  /// rows among all that are stored, and that of the rows as they were cannot be compared with it.
  func mixesRelevances(of query: Query) -> Bool {
    !earlier.isEmpty && query.order.contains(where: \.isRelevance)
      && workspace.engine.capabilities.queries.fullText == .matches
  }

  /// Aggregates over the result of a query. Where a function fails, the row does not match, or its
  /// value is unknown, and the error is reported.
  func accumulate(_ parts: [AggregatePart], _ query: Query) throws -> [Accumulator] {
    let failures = FunctionFailures()
    defer { if let error = failures.take(schema) { report(error) } }
    if earlier.isEmpty {
      return try snapshot.read { try $0.accumulate(parts, query.tolerating(failures)) }
    }
    var accumulators = parts.map(\.empty)
    let readers = ExpressionReaders(parts.map(\.expression))
    for row in try result(of: query) {
      readers.withValues(of: row) { values in
        for index in values.indices { accumulators[index].add(values[index]) }
      }
    }
    readers.moveFailure(to: failures)
    return accumulators
  }

  /// Aggregates of groups over the result of a query; see `accumulate`.
  func group(_ parts: GroupedParts, _ query: Query) throws -> GroupedValues {
    let failures = FunctionFailures()
    defer { if let error = failures.take(schema) { report(error) } }
    if earlier.isEmpty {
      return try snapshot.read { try $0.group(parts, query.tolerating(failures)) }
    }
    var groups = GroupedValues(parts)
    let readers = ExpressionReaders(parts.expressions)
    for row in try result(of: query) { readers.withValues(of: row) { groups.add($0) } }
    readers.moveFailure(to: failures)
    return groups
  }

  /// Adds the rows that matched before they were changed.
  private func addEarlierMatches(
    _ query: Query, _ rows: inout ContiguousArray<Row>, _ failures: FunctionFailures
  ) {
    let condition = query.condition.map(Program.init)
    let keys = query.order.map(SortKey.init)
    for case let row? in earlier.values {
      if let condition {
        let isTrue = row.read(condition.evaluate) == .true
        if condition.failures.move(to: failures) || !isTrue { continue }
      }
      rows.append(row.marked(workspace.unread))
    }
    rows.sort(by: keys)
    for key in keys { _ = key.program.failures.move(to: failures) }
  }

  /// Those rows, among some, that are overtaken; see the head of the file.
  func overtaken(among ids: some Sequence<Int64>) throws -> Set<Int64> {
    let changed = ids.filter { latest.keys.contains($0) }.sorted()
    if changed.isEmpty { return [] }
    var rows: [Int64: Row] = [:]
    for row in try stored(changed) { rows[row.id] = row }
    return Set(
      changed.filter { id in
        switch (rows[id], latest[id] ?? nil) {
        case (nil, nil): false
        case (let row?, let latest?): !row.equals(latest, as: schema.layout)
        default: true
        }
      })
  }

  /// The rows with some ids, as they are stored.
  func stored(_ ids: [Int64]) throws -> [Row] {
    let unread = workspace.unread
    return try snapshot.read {
      try $0.rows(.ids(schema, ids), mark: unread).map { $0.marked(unread) }
    }
  }

  /// Whether a row is not there yet, but stored already: its insertion is delivered later.
  func isInsertedLater(_ id: Int64) -> Bool {
    if case .some(.none) = earlier[id] { true } else { false }
  }

  /// The row with an id.
  func row(id: Int64) throws -> Row? {
    let row = try earlier[id] ?? snapshot.read { try $0.row(of: schema, id: id) }
    return row?.marked(workspace.unread)
  }

  /// The row of an object that the program has passed; see `TransactionHost.find`.
  func row(of row: Row) throws -> Row? {
    try workspace.find(row, schema) {
      try self.row(id: row.id)
    } byKey: {
      try self.row(keyOf: row)
    }
  }

  /// The rows with some primary keys, in their order; nil for keys without a row.
  func rows(with keys: [KeyValues]) throws -> [Row?] {
    let unread = workspace.unread
    var rows = try snapshot.read { try $0.rows(of: schema, with: keys, mark: unread) }
    if earlier.isEmpty { return rows }
    var places: [KeyValues: Int] = [:]
    for (place, key) in keys.enumerated() {
      places[key] = place
      if let row = rows[place], earlier.keys.contains(row.id) { rows[place] = nil }
    }
    for case let old? in earlier.values {
      if let place = schema.keyValues(of: old).flatMap({ places[$0] }) {
        rows[place] = old.marked(unread)
      }
    }
    return rows
  }

  /// The row with the primary key that `row` has.
  func row(keyOf row: Row) throws -> Row? {
    let unread = workspace.unread
    if let stored = try snapshot.read({ try $0.row(of: schema, keyOf: row) }),
      !earlier.keys.contains(stored.id)
    {
      return stored.marked(unread)
    }
    for case let old? in earlier.values where schema.hasSameKey(old, row) {
      return old.marked(unread)
    }
    return nil
  }
}
