// Views of a state: the common part of readers, snapshots and the writer.

import Dflat
import FlatBuffersRuntime

/// A view of an in-memory state.
protocol MemoryView: StorageReader {
  var engine: MemoryEngine { get }
  /// The state that the view reads.
  var state: MemoryState { get }
}

extension MemoryView {
  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    switch request {
    case .query(let query): try rows(query, mark: mark)
    case .key(let schema, let key): RowBuffer(row(with: key, schema, mark))
    case .keys(let schema, let keys): try rows(of: schema, oneByOne: keys, mark: mark)
    case .keyOf(let schema, let row): RowBuffer(try self.row(keyOf: row, schema))
    case .id(let schema, let id): RowBuffer(try row(id: id, schema))
    case .ids(let schema, let ids): rows(ids: ids, schema)
    case .after(let schema, let id, let limit): rows(after: id, limit: limit, schema)
    }
  }

  private func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    if let key = query.key {
      return query.limit == 0 ? RowBuffer() : try rows(.key(query.schema, key), mark: mark)
    }
    guard let query = candidates(of: query) else { return RowBuffer() }
    var collector = RowCollector(query.plan, mark: mark, report: reporter(of: query.schema))
    try query.forEachCandidate { row in
      row.withBytes { collector.offer(bytes: $0, id: row.id) }
    }
    return try collector.finish()
  }

  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    if case .columns = form { return false }
    if case .groups = form { return false }
    guard case .query(let query) = request, query.key == nil else {
      try scanCollected(request, body)
      return true
    }
    guard let candidates = candidates(of: query) else { return true }
    if candidates.plan.isSortedInMemory {
      try scanCollected(request, body)
      return true
    }
    var scan = RowScan(candidates.plan, report: reporter(of: query.schema))
    try candidates.forEachCandidate { row in
      try row.withBytes { bytes in
        try scan.offer(bytes: bytes, id: row.id) { try body(ScannedRow(id: row.id, $0)) }
      }
    }
    try scan.check()
    return true
  }

  /// Reports damaged rows of a type.
  private func reporter(of schema: EntitySchema) -> (Int64, VerificationError) -> Void {
    { [engine] id, error in
      engine.report(
        StorageError(.corruptRow, table: schema.table, rowid: id, message: error.reason))
    }
  }

  private func row(with key: KeyValues, _ schema: EntitySchema, _ mark: ReadMark) -> Row? {
    do { return try state.row(of: schema, with: key, mark: mark) } catch {
      engine.report(error)
      return nil
    }
  }

  private func row(id: Int64, _ schema: EntitySchema) throws -> Row? {
    let row = state.table(of: schema)?.table.rows.find(KeyView(id: id))?.row
    try row?.verify(as: schema)
    return row
  }

  private func row(keyOf row: Row, _ schema: EntitySchema) throws -> Row? {
    let found = schema.key(of: row).withView { state.row(of: schema, with: $0)?.row }
    try found?.verify(as: schema)
    return found
  }

  private func rows(ids: [Int64], _ schema: EntitySchema) -> RowBuffer {
    var rows = RowBuffer()
    for id in ids.sorted() {
      do {
        if let row = try row(id: id, schema) { rows.append(row) }
      } catch {
        engine.report(error)
      }
    }
    return rows
  }

  private func rows(after id: Int64?, limit: Int, _ schema: EntitySchema) -> RowBuffer {
    var rows = RowBuffer()
    state.table(of: schema)?.table.forEachRow(after: id) { row in
      guard rows.count < limit else { return false }
      do {
        try row.verify(as: schema)
        rows.append(row)
      } catch {
        engine.report(error)
      }
      return true
    }
    return rows
  }

  func lastID(of schema: EntitySchema) throws -> Int64? {
    var last: Int64?
    state.table(of: schema)?.table.rows.forEach(descending: true) { _, stored in
      last = stored.row.id
      return false
    }
    return last
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    let candidates = candidates(of: query)
    let (plan, indexes) = (candidates?.plan, candidates?.plan.indexNames ?? [])
    let scan = candidates.map { "each of \($0.table.rows.count) rows" }
    return QueryExplanation(
      statement: nil,
      plan: indexes.isEmpty
        ? [scan ?? "no object was ever stored"] : indexes.map { "look up \($0)" },
      indexes: indexes, of: query.schema,
      rowByRow: plan?.residual.map { $0.text(in: query.schema) },
      isSortedInMemory: plan?.isSortedInMemory ?? false)
  }

  /// nil if no object of the type was ever stored.
  private func candidates(of query: Query) -> MemoryQuery? {
    guard let (table, indexes) = state.table(of: query.schema) else { return nil }
    let capabilities = engine.capabilities.queries
    let plan = Plan(query, capabilities) { _ in indexes != nil }
    assert(
      (capabilities.canOrder || !plan.isOrderedByEngine)
        && (capabilities.isExact || plan.predicate == nil || plan.residual != nil),
      "a plan asks for more than the engine says that it can do")
    return MemoryQuery(plan: plan, table: table, indexes: indexes ?? [])
  }
}

extension MemoryState {
  /// The row with a primary key.
  func row(of schema: EntitySchema, with key: KeyValues, mark: ReadMark) throws -> Row? {
    func write(_ writer: inout KeyWriter) {
      writer.append(key.first)
      for value in key.rest { writer.append(value) }
    }
    let found = KeyWriter.with(write) { row(of: schema, with: $0.view) }
    guard let (row, isOfOnlyVersion) = found else { return nil }
    // A row is sound for the version that wrote it.
    if !isOfOnlyVersion { try row.verify(as: schema) }
    return row.withBytes { Row(sound: $0, id: row.id, mark: mark) }
  }
}

extension Row {
  /// Rows are sound for the version of the schema that wrote them. Another version may not have
  /// evolved from that one.
  fileprivate func verify(as schema: EntitySchema) throws {
    try withBytes { try schema.verify($0, id: id) }
  }
}
