// WriteSet: what a transaction has changed, row by row.
//
// It keeps true:
//
//  - a row is in it once, with what it was before the transaction and what it is after it;
//  - a row that the transaction has inserted and deleted is in it as nothing;
//  - rows are kept only of types that somebody observes. That is decided when the transaction first changes the type; who
//    subscribes later takes a place behind the transaction and does not need its rows.
//
// Written by the transaction's thread, while its closure runs, and only read afterwards.

/// What became of a row. A new one has no `old`, a deleted one no `new`.
struct RowChange {
  let id: Int64
  let old: Row?
  var new: Row?
  /// The fields of the root table whose bytes may differ; see `FieldSet.mask`. All, unless there are both rows.
  var fields: UInt64
  /// Whether it was written more than once, so that it may be what it was.
  var isRewritten = false
}

/// What a transaction has changed of one type that is observed.
///
/// Unchecked: changed by the transaction's thread until `close`; deliveries, which come after it, only read.
final class TypeChanges: @unchecked Sendable {
  private let layout: TableLayout
  // One thread at a time uses what follows, so checks of exclusive use would find nothing.

  @exclusivity(unchecked) private(set) var rows: [RowChange] = []
  /// Where rows are, once they do not come by ascending id any more. Programs mostly go through objects in order.
  @exclusivity(unchecked) private var places: [Int64: Int]?

  init(_ layout: TableLayout) {
    self.layout = layout
  }

  func record(_ id: Int64, old: Row?, new: Row?, changing fields: FieldSet) {
    if let place = place(of: id) {
      rows[place].new = new
      rows[place].fields |= fields.mask
      rows[place].isRewritten = true
      return
    }
    if places != nil {
      places?[id] = rows.count
    } else if let last = rows.last, last.id > id {
      places = Dictionary(
        uniqueKeysWithValues: rows.indices.map { (rows[$0].id, $0) } + [(id, rows.count)])
    }
    rows.append(RowChange(id: id, old: old, new: new, fields: fields.mask))
  }

  private func place(of id: Int64) -> Int? {
    if let places { return places[id] }
    guard let last = rows.last, last.id >= id else { return nil }
    var low = 0
    var high = rows.count
    while low < high {
      let middle = (low + high) / 2
      if rows[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return rows[low].id == id ? low : nil
  }

  /// Leaves out what is as it was. Called once, at the end of the transaction.
  func close() {
    guard rows.contains(where: \.isRewritten) else { return }
    rows.removeAll { change in
      guard change.isRewritten else { return false }
      switch (change.old, change.new) {
      case (nil, nil): return true
      case (let old?, let new?): return new.equals(old, as: layout)
      default: return false
      }
    }
    places = nil
  }
}

/// A type that a transaction has changed.
///
/// Unchecked: `rows`, all that changes, is used by the transaction's thread only. Deliveries read the constants.
final class ChangedType: @unchecked Sendable {
  let schema: EntitySchema
  /// How many types were changed before it.
  let place: Int
  let observer: any ChangeObserver
  let recent: RecentChanges
  /// What observers are told; nil if there are none.
  let changes: TypeChanges?
  /// The rows that were updated or deleted.
  @exclusivity(unchecked) var rows = RowIDSet()

  init(
    _ schema: EntitySchema, place: Int, _ observer: any ChangeObserver, _ recent: RecentChanges
  ) {
    self.schema = schema
    self.place = place
    self.observer = observer
    self.recent = recent
    changes = observer.isObserved ? TypeChanges(schema.layout) : nil
  }

  /// A row was written. A new one has no `old`, a deleted one no `new`.
  func record(_ id: Int64, old: Row?, new: Row?, changing fields: FieldSet) {
    changes?.record(id, old: old, new: new, changing: fields)
    if old == nil { return }
    rows.insert(id)
    recent.wrote(id)
  }
}

/// What a transaction has changed, by type.
struct WriteSet: Sendable {
  // Most transactions change one type.
  private var first: ChangedType?
  private var others: [ChangedType] = []

  /// Nothing.
  init() {}

  /// Types are told in the order in which they were first changed.
  init(_ types: some Sequence<ChangedType>, and latest: ChangedType) {
    others = types + [latest]
    others.sort { $0.place < $1.place }
  }

  init(_ type: ChangedType) {
    first = type
  }

  func forEach(_ body: (ChangedType) -> Void) {
    if let first { body(first) }
    for other in others { body(other) }
  }

  func close() {
    forEach { $0.changes?.close() }
  }

  /// Whether an observer is registered for a type that was changed.
  var isObserved: Bool { first?.changes != nil || others.contains { $0.changes != nil } }
}
