// ResultWindow: the rows of an observed result, kept up to date.
//
// Invariants:
//
//  - the rows are the first ones of the query without its limit, in the query's order, ties by row
//    id;
//  - `isComplete` says that there are no further rows;
//  - a limited result keeps some rows more than it shows, so that a few removals do not force it to
//    be read again.
//
// The changes of a transaction are applied together. They are sorted first (see ChangeOrder), so
// that each is found behind the one before. Rows whose sort keys have not changed are replaced in
// place; for all others, the old rows and the new ones are merged in one pass.

struct ResultWindow {
  private(set) var rows: ContiguousArray<Row>
  /// The largest number of rows that are shown.
  let limit: Int
  /// Whether no rows follow these.
  private(set) var isComplete: Bool

  /// A window over a result that was just read.
  init(_ rows: ContiguousArray<Row>, limit: Int?) {
    self.rows = rows
    self.limit = limit ?? .max
    isComplete = limit.map { rows.count < $0 } ?? true
  }

  /// The number of rows that are kept for a limit.
  static func capacity(_ limit: Int) -> Int {
    limit == 0 ? 0 : min(limit, Int.max / 4) + max(8, min(limit / 2, 1024))
  }

  /// The rows that are shown.
  var visible: ContiguousArray<Row> {
    rows.count <= limit ? rows : ContiguousArray(rows[..<limit])
  }

  /// Whether rows are missing that should be shown.
  var isShort: Bool { !isComplete && rows.count < limit }

  /// Replaces the rows by those of a new read.
  mutating func replace(_ rows: ContiguousArray<Row>, isComplete: Bool) {
    self.rows = rows
    self.isComplete = isComplete
  }

  /// Applies the changes of a transaction.
  /// - Parameters:
  ///   - mayLag: Whether these rows may lack changes by other connections, which a transaction has
  ///     seen. Then its old rows need not be here, or not at their positions.
  ///   - replaced: Receives the rows that are not kept any more.
  /// - Returns: Whether a visible row has changed. If the result is short now, it must be read
  ///   again.
  mutating func apply(
    _ touches: ResultTouches, in order: ChangeOrder, mayLag: Bool = false,
    _ replaced: inout ReplacedRows
  ) -> Bool {
    var leaving = ContiguousArray<ResultTouch>()
    var entering = ContiguousArray<ResultTouch>()
    leaving.reserveCapacity(touches.count)
    touches.forEach { touch in
      if touch.wasIn { leaving.append(touch) } else { entering.append(touch) }
    }
    // What follows the last row is unknown, unless these are all.
    let last = isComplete ? nil : rows.last
    order.sort(&leaving, by: .old)
    var (removed, isReplaced) = leave(leaving, order, mayLag: mayLag, &entering, &replaced)
    if mayLag { addEarlierVersions(of: entering, order, to: &removed) }
    if !isComplete {
      entering.removeAll { touch in
        guard let last, let new = order.changes[Int(touch.change)].new else { return true }
        return isBefore(order.keys, last, new)
      }
      if !mayLag { addEarlierVersions(of: entering, order, to: &removed) }
    }
    if removed.isEmpty, entering.isEmpty { return isReplaced }
    order.sort(&entering, by: .new)
    var inserted = ContiguousArray<Row>()
    inserted.reserveCapacity(entering.count)
    for touch in entering {
      if let new = order.changes[Int(touch.change)].new { inserted.append(new) }
    }
    let isRemoved = removed.first.map { $0 < limit } ?? false
    let firstInserted =
      removed.count + inserted.count <= 8
      ? place(removed, inserted, order.keys) : merge(removed, inserted, order.keys, &replaced)
    cut()
    _checkInvariants(order.keys)
    return isReplaced || isRemoved || firstInserted < limit
  }

  // MARK: Rows whose order other objects may have changed

  /// The positions of some rows, in ascending order. Those that are not here have none.
  /// - Parameters:
  ///   - earlier: The rows as they were when they came here.
  ///   - keys: The order as it was then.
  func places(of earlier: [Row], _ keys: [SortKey]) -> [Int] {
    earlier.compactMap { row in
      let place = rows.firstPlace(notBefore: row, keys, from: 0)
      return place < rows.count && rows[place].id == row.id ? place : nil
    }.sorted()
  }

  /// The positions of the rows with some ids, in ascending order.
  func places(of ids: Set<Int64>) -> [Int] { rows.indices.filter { ids.contains(rows[$0].id) } }

  /// Removes rows, and inserts others by the order that they have now.
  /// - Parameters:
  ///   - removed: The positions that rows leave, in ascending order.
  ///   - entering: The rows that may be inserted. If one is here, it is removed.
  ///   - replaced: Receives the rows that are not kept any more.
  /// - Returns: Whether a visible row has changed. If the result is short now, it must be read
  ///   again.
  mutating func replace(
    _ removed: [Int], by entering: ContiguousArray<Row>, _ keys: [SortKey], _ layout: TableLayout,
    _ replaced: inout ReplacedRows
  ) -> Bool {
    var inserted = entering
    if !isComplete {
      // What follows the last row that stays is unknown.
      let gone = Set(removed)
      let last = rows.indices.last { !gone.contains($0) }
      inserted.removeAll { row in last.map { isBefore(keys, rows[$0], row) } ?? true }
    }
    inserted.sort(by: keys)
    if removed.isEmpty, inserted.isEmpty { return false }
    let left = removed.filter { $0 < limit }.map { ($0, rows[$0]) }
    var places: [Int] = []
    if removed.count + inserted.count <= 8 {
      for place in removed.reversed() { replaced.rows.append(rows.remove(at: place)) }
      for row in inserted {
        let place = rows.firstPlace(notBefore: row, keys, from: places.last.map { $0 + 1 } ?? 0)
        rows.insert(row, at: place)
        places.append(place)
      }
    } else {
      _ = merge(removed, inserted, keys, &replaced)
      let ids = Set(inserted.map(\.id))
      places = rows.indices.filter { ids.contains(rows[$0].id) }
    }
    let entered = places.filter { $0 < limit }.map { ($0, rows[$0]) }
    cut()
    _checkInvariants(keys)
    // All other rows have kept their order, so they are where they were if these are.
    return !left.elementsEqual(entered) { left, entered in
      left.0 == entered.0 && left.1.id == entered.1.id && left.1.equals(entered.1, as: layout)
    }
  }

  /// Replaces rows that keep their positions, and finds those that leave them.
  /// - Parameters:
  ///   - touches: Of rows that were in the result, in its order.
  ///   - entering: Receives the touches whose rows must be inserted elsewhere.
  /// - Returns: The positions that rows leave, in order, and whether a visible row was replaced.
  private mutating func leave(
    _ touches: ContiguousArray<ResultTouch>, _ order: ChangeOrder, mayLag: Bool,
    _ entering: inout ContiguousArray<ResultTouch>, _ replaced: inout ReplacedRows
  ) -> (removed: [Int], isReplaced: Bool) {
    var removed: [Int] = []
    var isReplaced = false
    var isInOrder = true
    var next = 0
    for touch in touches {
      let index = Int(touch.change)
      if let place = place(ofOld: index, in: order, from: next, mayLag: mayLag) {
        if place < next { isInOrder = false }
        next = max(next, place + 1)
        if touch.isIn, let new = order.changes[index].new,
          mayLag ? compare(order.keys, rows[place], new) == 0 : !order.isMoved(index)
        {
          replaced.rows.append(exchange(&rows[place], with: new))
          isReplaced = isReplaced || place < limit
          continue
        }
        removed.append(place)
      }
      if touch.isIn { entering.append(touch) }
    }
    if !isInOrder { removed.sort() }
    return (removed, isReplaced)
  }

  /// Adds the positions of rows that are here and enter nevertheless: another connection has
  /// changed them before, so that they did not match when the transaction saw them, or were
  /// elsewhere.
  private func addEarlierVersions(
    of entering: ContiguousArray<ResultTouch>, _ order: ChangeOrder, to removed: inout [Int]
  ) {
    var ids: Set<Int64> = []
    for touch in entering {
      let change = order.changes[Int(touch.change)]
      if change.old != nil { ids.insert(change.id) }
    }
    if ids.isEmpty { return }
    let known = Set(removed)
    removed += rows.indices.filter { ids.contains(rows[$0].id) && !known.contains($0) }
    removed.sort()
  }

  /// Inserts the rows of a few changes one by one.
  /// - Returns: The position of the first inserted row.
  private mutating func place(
    _ removed: [Int], _ inserted: ContiguousArray<Row>, _ keys: [SortKey]
  ) -> Int {
    for place in removed.reversed() { rows.remove(at: place) }
    var first = Int.max
    var start = 0
    for row in inserted {
      start = rows.firstPlace(notBefore: row, keys, from: start)
      rows.insert(row, at: start)
      first = min(first, start)
      start += 1
    }
    return first
  }

  /// Merges the rows of many changes in one pass over all rows.
  /// - Returns: The position of the first inserted row.
  private mutating func merge(
    _ removed: [Int], _ inserted: ContiguousArray<Row>, _ keys: [SortKey],
    _ replaced: inout ReplacedRows
  ) -> Int {
    let kept = rows(without: removed)
    if kept.isEmpty {
      replaced.lists.append(exchange(&rows, with: inserted))
      return rows.isEmpty ? .max : 0
    }
    var merged = ContiguousArray<Row>()
    merged.reserveCapacity(kept.count + inserted.count)
    var first = Int.max
    var (left, right) = (0, 0)
    while left < kept.count, right < inserted.count {
      let leftEnd = kept.firstPlace(notBefore: inserted[right], keys, from: left)
      merged += kept[left..<leftEnd]
      first = min(first, merged.count)
      left = leftEnd
      let rightEnd =
        left < kept.count
        ? inserted.firstPlace(notBefore: kept[left], keys, from: right) : inserted.count
      merged += inserted[right..<rightEnd]
      right = rightEnd
    }
    merged += kept[left...]
    replaced.lists.append(exchange(&rows, with: merged))
    return first
  }

  private func rows(without removed: [Int]) -> ContiguousArray<Row> {
    var kept = ContiguousArray<Row>()
    kept.reserveCapacity(rows.count - removed.count)
    var next = 0
    for place in removed {
      if next < place { kept += rows[next..<place] }
      next = place + 1
    }
    kept += rows[next...]
    return kept
  }

  private mutating func cut() {
    if limit == .max { return }
    let capacity = Self.capacity(limit)
    if rows.count > capacity {
      rows.removeSubrange(capacity...)
      isComplete = false
    }
  }

  /// The position of a change's old row.
  /// - Parameter start: Behind the rows that come before it.
  private func place(
    ofOld index: Int, in order: ChangeOrder, from start: Int, mayLag: Bool
  ) -> Int? {
    let id = order.changes[index].id
    if start < rows.count, rows[start].id == id { return start }
    guard let row = order.changes[index].old else { return nil }
    let place = rows.firstPlace(notBefore: row, order.keys, from: start)
    if place < rows.count, rows[place].id == id { return place }
    // An external change that was not noticed may have moved it.
    return isComplete || mayLag ? rows.firstIndex { $0.id == id } : nil
  }

  func _checkInvariants(_ keys: [SortKey]) {
    #if DEBUG
      if rows.count > 64 { return }
      assert(zip(rows, rows.dropFirst()).allSatisfy { isBefore(keys, $0, $1) })
      assert(limit == .max || rows.count <= Self.capacity(limit))
    #endif
  }
}

extension ContiguousArray<Row> {
  /// The first position from `start` whose row does not come before another row. The steps of the
  /// search double, since the position is mostly near.
  fileprivate func firstPlace(notBefore row: Row, _ keys: [SortKey], from start: Int) -> Int {
    // In the order of row ids, a new row comes last.
    if keys.isEmpty, let last, last.id < row.id { return count }
    var low = start
    var high = count
    var step = 1
    while low < high {
      let probe = Swift.min(low + step, high) - 1
      if !isBefore(keys, self[probe], row) {
        high = probe
        break
      }
      low = probe + 1
      step *= 2
    }
    while low < high {
      let middle = (low + high) / 2
      if isBefore(keys, self[middle], row) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// Rows that are not kept any more. They are released after the handlers were called: releasing
/// rows that have left the processor's caches takes as long as delivering the new ones.
struct ReplacedRows {
  var rows = ContiguousArray<Row>()
  var lists: [ContiguousArray<Row>] = []
}

@inline(__always)
func exchange<Value>(_ place: inout Value, with value: consuming Value) -> Value {
  swap(&place, &value)
  return value
}
