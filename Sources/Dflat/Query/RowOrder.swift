// RowOrder: the order of rows: by the keys of a query, then by row id.

/// Compares two rows by the keys: negative if the left one comes first, zero if the keys are equal.
func compare(_ keys: [SortKey], _ left: Row, _ right: Row) -> Int {
  if keys.isEmpty { return 0 }
  return left.read { l in
    right.read { r in
      for key in keys {
        let order = key.compare(l, r)
        if order != 0 { return key.isDescending ? -order : order }
      }
      return 0
    }
  }
}

/// Whether a row comes before another by the keys, then by row id.
func isBefore(_ keys: [SortKey], _ left: Row, _ right: Row) -> Bool {
  let order = compare(keys, left, right)
  return order == 0 ? left.id < right.id : order < 0
}

/// Sorts rows. There is only this one call of the standard sort: the compiler specialises it for
/// each closure.
func sort(_ rows: UnsafeMutableBufferPointer<Row>, by keys: [SortKey]) {
  var rows = rows
  rows.sort { isBefore(keys, $0, $1) }
}

extension ContiguousArray<Row> {
  /// Sorts the rows.
  mutating func sort(by keys: [SortKey]) {
    withUnsafeMutableBufferPointer { Dflat.sort($0, by: keys) }
  }
}
