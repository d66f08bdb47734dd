// PastViews: the data of several types as they were at a point of their deliveries.
//
// The views share a snapshot. They are used in a delivery of all these types, so none of the types
// has another delivery meanwhile.

/// Views of some types in one state. Used by one delivery, on its thread.
final class PastViews {
  private let snapshot: any StorageSnapshot
  /// One view for each type.
  let views: [PastView]

  init(of types: [TypeObservers], in workspace: any TransactionHost) throws {
    let snapshot = try PastView.snapshot(of: types, in: workspace)
    self.snapshot = snapshot
    views = types.map { PastView(of: $0, snapshot, in: workspace) }
  }

  func close() { snapshot.close() }

  /// The view of a type.
  func of(_ schema: EntitySchema) -> PastView {
    guard let view = views.first(where: { $0.schema === schema }) else {
      preconditionFailure("\(schema.table) is read, but no type of the result")
    }
    return view
  }
}

/// Answers queries for a type in a past state.
final class PastReader: StorageReader {
  private let past: PastView

  init(_ past: PastView) { self.past = past }

  func rows(_ request: ReadRequest, mark: ReadMark) throws -> RowBuffer {
    var rows = RowBuffer()
    for row in try self.rows(request) { rows.append(row) }
    return rows
  }

  private func rows(_ request: ReadRequest) throws -> [Row] {
    switch request {
    case .query(let query): return Array(try past.result(of: query))
    case .key(_, let key): return try past.rows(with: [key]).compactMap { $0 }
    case .keys(_, let keys):
      return try past.rows(with: keys.compactMap { $0 }).compactMap { $0 }
    case .keyOf(_, let row): return try [past.row(keyOf: row)].compactMap { $0 }
    case .id(_, let id): return try [past.row(id: id)].compactMap { $0 }
    case .ids(_, let ids): return try past.rows(Set(ids)).rows
    case .after(let schema, let id, let limit):
      let all = try past.result(of: Query(schema: schema))
      return Array(all.filter { row in id.map { row.id > $0 } ?? true }.prefix(limit))
    }
  }

  func scan(
    _ request: ReadRequest, _ form: ScanForm, _ body: (ScannedRow) throws -> Bool
  ) throws -> Bool {
    // Mostly nothing was committed meanwhile, and the engine knows the fastest way.
    if past.earlier.isEmpty {
      return try past.snapshot.read { try $0.scan(request, form, body) }
    }
    if form.isOfColumns { return false }
    try scanCollected(request, body)
    return true
  }
}
