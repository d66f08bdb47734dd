// The order of rows: by the keys of a query, ties by row id.

/// How two rows stand by the keys: negative if the left one comes first, zero if they do not tell.
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

/// Whether a row comes before another by the keys, ties by row id.
func isBefore(_ keys: [SortKey], _ left: Row, _ right: Row) -> Bool {
  let order = compare(keys, left, right)
  return order == 0 ? left.id < right.id : order < 0
}

/// Puts rows in order. The one sort of rows: each closure that the standard sort is given makes the compiler copy it.
func sort(_ rows: UnsafeMutableBufferPointer<Row>, by keys: [SortKey]) {
  var rows = rows
  rows.sort { isBefore(keys, $0, $1) }
}

extension ContiguousArray<Row> {
  /// Puts the rows in order.
  mutating func sort(by keys: [SortKey]) {
    withUnsafeMutableBufferPointer { Dflat.sort($0, by: keys) }
  }
}
