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
    let change: UInt32
    /// Whether the row matched, and matches.
    var wasIn: Bool
    var isIn: Bool
  }

  /// What the changes of a transaction do to a result, in their order. A single one, which is most common, needs no memory.
  struct Touches {
    private var first: Touch?
    private var others: ContiguousArray<Touch> = []

    var last: Touch? { others.last ?? first }

    /// Adds what the last change does, or a new one.
    /// - Returns: Whether it is the first of all.
    mutating func add(_ change: UInt32, _ wasIn: Bool, _ isIn: Bool) -> Bool {
      guard let known = first else {
        first = Touch(change: change, wasIn: wasIn, isIn: isIn)
        return true
      }
      if others.isEmpty, known.change == change {
        first = Touch(change: change, wasIn: known.wasIn || wasIn, isIn: known.isIn || isIn)
      } else if let last = others.last, last.change == change {
        others[others.count - 1].wasIn = last.wasIn || wasIn
        others[others.count - 1].isIn = last.isIn || isIn
      } else {
        others.append(Touch(change: change, wasIn: wasIn, isIn: isIn))
      }
      return false
    }

    @inline(__always)
    func forEach(_ body: (Touch) -> Void) {
      if let first { body(first) }
      for touch in others { body(touch) }
    }
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
  /// - Parameter replaced: Gets rows that are not kept any more.
  /// - Returns: Whether anything has changed that is shown. If the result is short now, it is to be read again.
  mutating func apply(
    _ touches: Touches, of changes: UnsafeBufferPointer<RowChange>, order keys: [SortKey],
    _ replaced: inout ReplacedRows
  ) -> Bool {
    var isVisible = false
    var edit = Edit()
    // What is behind the last row is not known, unless these are all.
    let last = isComplete ? nil : rows.last
    // Changes mostly come by row id: the next one may stand behind this one.
    var next = 0
    touches.forEach { touch in
      let index = Int(touch.change)
      if touch.wasIn,
        let place = place(of: changes[index].old, changes[index].id, keys, perhaps: next)
      {
        next = place + 1
        if touch.isIn, let new = changes[index].new,
          keys.isEmpty || changes[index].old.map({ compare(keys, $0, new) }) == 0
        {
          replaced.rows.append(exchange(&rows[place], with: new))
          isVisible = isVisible || place < limit
          return
        }
        edit.remove(place)
      }
      guard touch.isIn, let new = changes[index].new else { return }
      if isComplete || last.map({ !isBefore(keys, $0, new) }) ?? false {
        edit.insert(new, id: changes[index].id)
      }
    }
    if edit.isEmpty { return isVisible }
    edit.sort(keys)
    if let first = edit.removed.first, first < limit { isVisible = true }
    let firstInserted = edit.count <= 8 ? place(edit, keys) : merge(edit, keys, &replaced)
    cut()
    _checkInvariants(keys)
    return isVisible || firstInserted < limit
  }

  /// Which places are to be left out, and which rows put in; each in order.
  private struct Edit {
    private(set) var removed: [Int] = []
    private(set) var inserted = ContiguousArray<Row>()
    private var areRemovalsInOrder = true
    /// Whether what is inserted comes by row id.
    private var isByID = true
    private var lastID = Int64.min

    var isEmpty: Bool { removed.isEmpty && inserted.isEmpty }
    var count: Int { removed.count + inserted.count }

    mutating func remove(_ place: Int) {
      if let last = removed.last, last > place { areRemovalsInOrder = false }
      removed.append(place)
    }

    mutating func insert(_ row: Row, id: Int64) {
      if id < lastID { isByID = false }
      lastID = id
      inserted.append(row)
    }

    mutating func sort(_ keys: [SortKey]) {
      if !areRemovalsInOrder { removed.sort() }
      if keys.isEmpty {
        if !isByID { inserted.sort(by: keys) }
      } else if !zip(inserted, inserted.dropFirst()).allSatisfy({ isBefore(keys, $0, $1) }) {
        inserted.sort(by: keys)
      }
    }
  }

  /// Few changes: where they are.
  /// - Returns: The place of the first inserted row.
  private mutating func place(_ edit: Edit, _ keys: [SortKey]) -> Int {
    for place in edit.removed.reversed() { rows.remove(at: place) }
    var first = Int.max
    var start = 0
    for row in edit.inserted {
      start = firstPlace(notBefore: row, keys, from: start)
      rows.insert(row, at: start)
      first = min(first, start)
      start += 1
    }
    return first
  }

  /// Many changes: one pass over all rows.
  /// - Returns: The place of the first inserted row.
  private mutating func merge(
    _ edit: Edit, _ keys: [SortKey], _ replaced: inout ReplacedRows
  ) -> Int {
    if edit.removed.count == rows.count {
      replaced.lists.append(exchange(&rows, with: edit.inserted))
      return rows.isEmpty ? .max : 0
    }
    var merged = ContiguousArray<Row>()
    merged.reserveCapacity(rows.count - edit.removed.count + edit.inserted.count)
    var first = Int.max
    var next = 0
    var removals = edit.removed[...]
    func copy(to end: Int) {
      while let removal = removals.first, removal < end {
        if next < removal { merged += rows[next..<removal] }
        next = removal + 1
        removals.removeFirst()
      }
      if next < end { merged += rows[next..<end] }
      next = end
    }
    for row in edit.inserted {
      copy(to: firstPlace(notBefore: row, keys, from: next))
      first = min(first, merged.count)
      merged.append(row)
    }
    copy(to: rows.count)
    replaced.lists.append(exchange(&rows, with: merged))
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
  private func place(
    of row: @autoclosure () -> Row?, _ id: Int64, _ keys: [SortKey], perhaps next: Int
  ) -> Int? {
    if next < rows.count, rows[next].id == id { return next }
    guard let row = row() else { return nil }
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

/// Rows that are not kept any more, until those who wait have been told: to let go of rows that have left the processor's caches
/// takes as long as telling the new ones.
struct ReplacedRows {
  var rows = ContiguousArray<Row>()
  var lists: [ContiguousArray<Row>] = []
}

@inline(__always)
func exchange<Value>(_ place: inout Value, with value: consuming Value) -> Value {
  swap(&place, &value)
  return value
}
