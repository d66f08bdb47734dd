// WriteSet: the changes of a transaction, row by row.
//
// Invariants:
//
//  - Each row has one entry, with its state before and after the transaction.
//  - A row that the transaction has inserted and deleted again has an empty entry.
//  - Rows are recorded only for types that are observed, or are being copied. That is decided when
//    the transaction first changes the type. A later subscription is enqueued behind the
//    transaction and does not need its rows.
//
// It is written on the transaction's thread while the handler runs, and only read afterwards.

/// The change of a row. An inserted row has no `old`, a deleted one no `new`.
struct RowChange: Sendable {
  let id: Int64
  let old: Row?
  var new: Row?
  /// The fields of the root table whose bytes may differ; see `FieldSet.mask`. All fields, unless
  /// there are both rows.
  var fields: UInt64
  /// Whether the row was written more than once, so that it may be back in its old state.
  var isRewritten = false
}

/// The changes of a transaction to one observed type. Deliveries get its rows once it is closed.
final class TypeChanges {
  private let layout: TableLayout
  // Used by one thread at a time, so exclusivity checks would find nothing.

  @exclusivity(unchecked) private(set) var rows: [RowChange] = []
  /// The positions of the rows, once these are no longer in ascending order of ids. Programs mostly
  /// go through objects in order.
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

  /// Drops rows that did not change in the end. Called once, at the end of the transaction.
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
final class ChangedType {
  let schema: EntitySchema
  /// The number of types that were changed before this one.
  let place: Int
  let observer: any ChangeObserver
  let recent: RecentChanges
  /// The changes for observers; nil if the type is neither observed nor recorded.
  let changes: TypeChanges?
  /// Records the changes that can be taken back, while these are made.
  @exclusivity(unchecked) var journal: ChangeJournal?
  /// The keys of the objects that were changed, or were to be deleted; nil if nothing notes them.
  @exclusivity(unchecked) private(set) var keys: Set<KeyValues>?
  /// Those that note each row which is written, for a copy of the workspace.
  private let recorders: [RowRecorder]
  /// The rows that were updated or deleted.
  @exclusivity(unchecked) private var rows = RowIDSet()

  init(
    _ schema: EntitySchema, place: Int, _ observer: any ChangeObserver, _ recent: RecentChanges,
    _ journal: ChangeJournal?, notesKeys: Bool
  ) {
    self.schema = schema
    self.place = place
    self.observer = observer
    self.recent = recent
    self.journal = journal
    recorders = recent.recorders
    keys = notesKeys ? [] : nil
    let isWatched = observer.isObserved || !recorders.isEmpty || notesKeys
    changes = isWatched ? TypeChanges(schema.layout) : nil
  }

  /// Whether the rows of changes are needed, and not only their ids.
  var needsRows: Bool { changes != nil || journal != nil }

  /// Whether a row was updated or deleted.
  func hasChanged(_ id: Int64) -> Bool { rows.contains(id) }

  /// Records a write. An inserted row has no `old`, a deleted one no `new`.
  func record(_ id: Int64, old: Row?, new: Row?, changing fields: FieldSet) {
    changes?.record(id, old: old, new: new, changing: fields)
    journal?.record(schema, id, old: old, new: new, changing: fields)
    if !recorders.isEmpty { for recorder in recorders { recorder.wrote(id) } }
    if keys != nil { note(old, new) }
    if old == nil { return }
    rows.insert(id)
    recent.wrote(id)
  }

  @inline(never)
  private func note(_ rows: Row?...) {
    for row in rows { if let key = row.flatMap({ schema.keyValues(of: $0) }) { keys?.insert(key) } }
  }

  func note(_ key: KeyValues) { keys?.insert(key) }
}

extension ChangedType {
  /// Records that rows were deleted which no observer has to see.
  func recordUnobservedDeletions(of ids: [Int64]) {
    for id in ids {
      rows.insert(id)
      recent.wrote(id)
    }
  }
}

/// The changes of a transaction, by type.
struct WriteSet {
  // Most transactions change one type.
  private var first: ChangedType?
  private var others: [ChangedType] = []

  /// Creates an empty set.
  init() {}

  /// Observers are notified in the order in which the types were first changed.
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
