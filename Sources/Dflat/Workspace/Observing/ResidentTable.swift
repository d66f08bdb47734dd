// ResidentTable: all rows of a type in memory, by primary key and by the values of fields.
//
// Not generic, so that look-ups are compiled for the types that they use. The values of fields are
// kept in their stored form (HashableFieldValue). Invariants:
//
//  - the tables have the same rows: those after the last change that was delivered;
//  - the table of a field is made when it is first asked for, and lacks rows for which the field is
//    unknown;
//  - the rows under one value are in ascending order of their ids.

import FlatBuffersRuntime
import Platform

@usableFromInline
final class ResidentTable: Sendable {
  private struct State {
    var rows: RowsByKey
    /// The rows by the values of a field, by the field's path.
    var fields: [String: FieldTable] = [:]
    var subscription: (any WorkspaceSubscription)?
  }

  /// The rows by the values of one field.
  private struct FieldTable {
    let readers: ExpressionReaders
    var rows: [HashableFieldValue: ContiguousArray<Row>] = [:]

    init(_ field: FieldDescriptor) {
      readers = ExpressionReaders([ValueExpression(node: .field(field), type: field.type)])
    }

    private func value(of row: Row) -> HashableFieldValue? {
      readers.withValues(of: row) { HashableFieldValue($0[0]) }
    }

    mutating func insert(_ row: Row) {
      guard let value = value(of: row) else { return }
      rows[value, default: []].put(row)
    }

    /// Exchanges rows for others. A row that keeps its value is replaced where it is: thousands may
    /// have the same one.
    mutating func change(_ gone: [Row], for entered: [Row]) {
      var values: [Int64: HashableFieldValue] = [:]
      for row in entered { values[row.id] = value(of: row) }
      var lost: [HashableFieldValue: Set<Int64>] = [:]
      for row in gone {
        if let value = value(of: row), value != values[row.id] {
          lost[value, default: []].insert(row.id)
        }
      }
      for (value, ids) in lost {
        rows[value]?.remove(ids)
        if rows[value]?.isEmpty == true { rows[value] = nil }
      }
      for row in entered {
        if let value = values[row.id] { rows[value, default: []].put(row) }
      }
    }
  }

  private let schema: EntitySchema
  private let state: Mutex<State>
  /// Set when the rows were read for the first time.
  private let loading = CommitOutcome()

  init(_ schema: EntitySchema) {
    self.schema = schema
    state = Mutex(State(rows: RowsByKey(schema)))
  }

  /// Begins to follow the type.
  /// - Returns: Whether the workspace is open.
  func follow(in core: WorkspaceCore) -> Bool {
    let subscription = core.observe(rowsOf: Query(schema: schema), keysOnly: false) {
      [weak self] event in self?.take(event)
    }
    state.withLock { $0.subscription = subscription }
    return subscription != nil
  }

  /// Returns when the rows were read for the first time, and throws if they cannot be. Called once.
  func load() async throws {
    await loading.wait()
    try loading.check()
  }

  private func take(_ event: RowsObserver.Event) {
    if case .failed(let error) = event { return loading.notify(error) }
    let old = state.withLock { state -> RowsByKey? in
      switch event {
      case .all(let rows):
        let old = state.rows
        state.rows = RowsByKey(schema, capacity: rows.count)
        for row in rows { state.rows.insert(row) }
        // They are made again when they are asked for.
        state.fields = [:]
        return old
      case .changed(let left, let entered):
        // The rows as they are here. Another connection may have changed them, which was not
        // delivered, and then the fields of the same rows in `left` have other values.
        var gone = left.compactMap { state.rows.remove($0) }
        gone += entered.compactMap { state.rows.insert($0) }
        // The keys of an array: those of the dictionary would keep a copy of all tables.
        for path in Array(state.fields.keys) {
          state.fields[path]?.change(gone, for: entered)
        }
        return nil
      case .failed: return nil
      }
    }
    // Many rows are released without the lock.
    withExtendedLifetime(old) {}
    loading.notify(nil)
  }

  // MARK: Look-ups

  var count: Int { state.withLock { $0.rows.count } }

  /// All rows, in ascending order of their ids.
  var rows: [Row] { state.withLock { $0.rows.all }.sorted { $0.id < $1.id } }

  /// The row with a primary key.
  @usableFromInline
  func row(_ key: KeyValues) -> Row? { state.withLock { $0.rows.row(key) } }

  /// The rows for which a field has a value.
  func rows(_ field: FieldDescriptor, _ value: Value) -> ContiguousArray<Row> {
    guard let value = HashableFieldValue(value) else { return [] }
    return state.withLock { state in
      if let table = state.fields[field.path] { return table.rows[value] ?? [] }
      var table = FieldTable(field)
      for row in state.rows.all.sorted(by: { $0.id < $1.id }) { table.insert(row) }
      state.fields[field.path] = table
      return table.rows[value] ?? []
    }
  }
}

extension ContiguousArray<Row> {
  /// Puts a row where its id belongs, in the place of one with this id.
  fileprivate mutating func put(_ row: Row) {
    let place = place(of: row.id)
    if place < count, self[place].id == row.id {
      self[place] = row
    } else {
      insert(row, at: place)
    }
  }

  fileprivate mutating func remove(_ ids: Set<Int64>) {
    guard ids.count == 1, let id = ids.first else { return removeAll { ids.contains($0.id) } }
    let place = place(of: id)
    if place < count, self[place].id == id { remove(at: place) }
  }

  /// Where a row with an id is, or would be, in ascending order of ids.
  fileprivate func place(of id: Int64) -> Int {
    // Mostly rows are added at the end.
    if let last, last.id < id { return count }
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
