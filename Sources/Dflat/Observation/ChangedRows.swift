// ChangedRows: the rows that a transaction has changed, for observers whose rows may lag.
//
// Other connections may have changed a row that an observer holds, which was not delivered. Then
// the transaction knows no version of the row that satisfies the observer's condition, or it knows
// another row with the same key: others have deleted the row, and stored its key again.

struct ChangedRows {
  private var places: [Int64: UInt32] = [:]
  private var rows: RowsByKey

  init(_ changes: UnsafeBufferPointer<RowChange>, of schema: EntitySchema) {
    rows = RowsByKey(schema)
    for (index, change) in changes.enumerated() {
      if change.old != nil { places[change.id] = UInt32(index) }
      if let old = change.old { rows.insert(old) }
      if let new = change.new { rows.insert(new) }
    }
  }

  /// The position of a row's change in the transaction, if the transaction has changed it.
  func place(of row: Row) -> UInt32? { places[row.id] }

  /// Whether the transaction has changed a row with the key of a row.
  func hasKey(of row: Row) -> Bool { rows.row(sameKeyAs: row) != nil }
}
