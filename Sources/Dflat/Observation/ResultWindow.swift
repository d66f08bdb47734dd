// ResultWindow: the rows of an observed result, kept up to date.
//
// It keeps true:
//
//  - the rows are the first ones of what the query gives without a limit, in its order, ties by row id;
//  - `isComplete` says that they are all;
//  - a limited result keeps some rows more than it shows, so that few removals make it read again.
//
// The changes of a transaction are worked in together: rows whose order stays are replaced where they stand, for the others the
// rows and the new ones, sorted, are merged in one pass.

struct ResultWindow {
  private(set) var rows: ContiguousArray<Row>
  /// How many rows are shown at most.
  let limit: Int
  /// Whether there are no rows behind these.
  private(set) var isComplete: Bool

  /// What a change does to a result.
  struct Touch {
    /// The change's place in its transaction.
    let change: Int
    /// Whether the row matched, and matches.
    var wasIn: Bool
    var isIn: Bool
  }

  /// The result that was just read.
  init(_ rows: ContiguousArray<Row>, limit: Int?) {
    self.rows = rows
    self.limit = limit ?? .max
    isComplete = limit.map { rows.count < $0 } ?? true
  }

  /// How many rows are kept.
  static func capacity(_ limit: Int) -> Int {
    limit == 0 ? 0 : min(limit, Int.max / 4) + max(8, min(limit / 2, 1024))
  }

  /// What is shown.
  var visible: ContiguousArray<Row> {
    rows.count <= limit ? rows : ContiguousArray(rows[..<limit])
  }

  /// Whether rows are missing that should be shown.
  var isShort: Bool { !isComplete && rows.count < limit }

  /// Takes what was read anew.
  mutating func replace(_ rows: ContiguousArray<Row>, isComplete: Bool) {
    self.rows = rows
    self.isComplete = isComplete
  }

  /// Works the changes of a transaction in.
  /// - Returns: Whether anything has changed that is shown. If the result is short now, it is to be read again.
  mutating func apply(
    _ touches: [Touch], of changes: [RowChange], order keys: [SortKey]
  ) -> Bool {
    var isVisible = false
    var removed: [Int] = []
    var inserted: [Row] = []
    // What is behind the last row is not known, unless these are all.
    let last = isComplete ? nil : rows.last
    // Changes mostly come by row id: the next one may stand behind this one.
    var next = 0
    for touch in touches {
      if touch.wasIn, let place = place(of: changes[touch.change], keys, perhaps: next) {
        next = place + 1
        if touch.isIn, let new = changes[touch.change].new,
          keys.isEmpty || changes[touch.change].old.map({ compare(keys, $0, new) }) == 0
        {
          rows[place] = new
          isVisible = isVisible || place < limit
          continue
        }
        removed.append(place)
      }
      guard touch.isIn, let new = changes[touch.change].new else { continue }
      if isComplete || last.map({ !isBefore(keys, $0, new) }) ?? false { inserted.append(new) }
    }
    if removed.isEmpty, inserted.isEmpty { return isVisible }
    if !Self.isAscending(removed.indices, { removed[$0] < removed[$1] }) { removed.sort() }
    if keys.isEmpty {
      if !Self.isAscending(inserted.indices, { inserted[$0].id < inserted[$1].id }) {
        inserted.sort { $0.id < $1.id }
      }
    } else if !Self.isAscending(inserted.indices, { isBefore(keys, inserted[$0], inserted[$1]) }) {
      inserted.sort { isBefore(keys, $0, $1) }
    }
    if let first = removed.first, first < limit { isVisible = true }
    let firstInserted =
      removed.count + inserted.count <= 8
      ? edit(removed, inserted, keys) : merge(removed, inserted, keys)
    cut()
    _checkInvariants(keys)
    return isVisible || firstInserted < limit
  }

  private static func isAscending(_ places: Range<Int>, _ areInOrder: (Int, Int) -> Bool) -> Bool {
    places.dropFirst().allSatisfy { areInOrder($0 - 1, $0) }
  }

  /// Few changes: where they are.
  /// - Returns: The place of the first inserted row.
  private mutating func edit(_ removed: [Int], _ inserted: [Row], _ keys: [SortKey]) -> Int {
    for place in removed.reversed() { rows.remove(at: place) }
    var first = Int.max
    var start = 0
    for row in inserted {
      start = firstPlace(notBefore: row, keys, from: start)
      rows.insert(row, at: start)
      first = min(first, start)
      start += 1
    }
    return first
  }

  /// Many changes: one pass over all rows.
  /// - Returns: The place of the first inserted row.
  private mutating func merge(_ removed: [Int], _ inserted: [Row], _ keys: [SortKey]) -> Int {
    if removed.count == rows.count {
      rows = ContiguousArray(inserted)
      return rows.isEmpty ? .max : 0
    }
    var merged = ContiguousArray<Row>()
    merged.reserveCapacity(rows.count - removed.count + inserted.count)
    var first = Int.max
    var next = 0
    var removals = removed[...]
    func copy(to end: Int) {
      while let removal = removals.first, removal < end {
        if next < removal { merged += rows[next..<removal] }
        next = removal + 1
        removals.removeFirst()
      }
      if next < end { merged += rows[next..<end] }
      next = end
    }
    for row in inserted {
      copy(to: firstPlace(notBefore: row, keys, from: next))
      first = min(first, merged.count)
      merged.append(row)
    }
    copy(to: rows.count)
    rows = merged
    return first
  }

  private mutating func cut() {
    if limit == .max { return }
    let capacity = Self.capacity(limit)
    if rows.count > capacity {
      rows.removeSubrange(capacity...)
      isComplete = false
    }
  }

  /// Where the old row of a change stands.
  /// - Parameter next: Where it may well be.
  private func place(of change: RowChange, _ keys: [SortKey], perhaps next: Int) -> Int? {
    if next < rows.count, rows[next].id == change.id { return next }
    guard let row = change.old else { return nil }
    let place = firstPlace(notBefore: row, keys, from: 0)
    if place < rows.count, rows[place].id == row.id { return place }
    // Somebody else's changes, which nobody noticed, may have moved it.
    return isComplete ? rows.firstIndex { $0.id == row.id } : nil
  }

  private func firstPlace(notBefore row: Row, _ keys: [SortKey], from start: Int) -> Int {
    var low = start
    var high = rows.count
    if low < high, !isBefore(keys, rows[low], row) { return low }
    if keys.isEmpty {
      // By row id; what is new comes last.
      if let last = rows.last, last.id < row.id { return high }
      while low < high {
        let middle = (low + high) / 2
        if rows[middle].id < row.id { low = middle + 1 } else { high = middle }
      }
      return low
    }
    while low < high {
      let middle = (low + high) / 2
      if isBefore(keys, rows[middle], row) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func _checkInvariants(_ keys: [SortKey]) {
    #if DEBUG
      if rows.count > 64 { return }
      assert(zip(rows, rows.dropFirst()).allSatisfy { isBefore(keys, $0, $1) })
      assert(limit == .max || rows.count <= Self.capacity(limit))
    #endif
  }
}
