// IntervalIndex: which of many intervals hold a key.
//
// Intervals lie in an array by their lower bounds, which is read as a balanced tree: the root of a part is its middle. Beside
// each root stands the greatest upper bound of its part, so parts that end below a key are passed over. A look-up costs the
// logarithm of the number of intervals, and what is found.
//
// New intervals wait in a short list of their own, and removed ones stay behind as empty places, until either are so many that
// the array is made anew. So each change costs a logarithm, too, taken over many.

struct IntervalIndex<Element: AnyObject> {
  private struct Item {
    let low: UInt64
    let high: UInt64
    /// nil once it was removed.
    var element: Element?
  }

  private var items: [Item] = []
  /// For each root, the greatest upper bound of its part.
  private var greatest: [UInt64] = []
  private var recent: [Item] = []
  private var removedCount = 0

  var count: Int { items.count - removedCount + recent.count }

  mutating func insert(_ range: ClosedRange<UInt64>, _ element: Element) {
    recent.append(Item(low: range.lowerBound, high: range.upperBound, element: element))
    if recent.count > 32 + items.count / 8 { rebuild() }
  }

  mutating func remove(_ range: ClosedRange<UInt64>, _ element: Element) {
    if let index = recent.firstIndex(where: { $0.element === element }) {
      recent.remove(at: index)
      return
    }
    var index = firstIndex(atOrAbove: range.lowerBound)
    while index < items.count, items[index].low == range.lowerBound {
      if items[index].element === element {
        items[index].element = nil
        removedCount += 1
        if removedCount > 32 + items.count / 2 { rebuild() }
        return
      }
      index += 1
    }
  }

  /// Calls `body` with each element whose interval holds a key.
  func forEach(containing key: UInt64, _ body: (Element) -> Void) {
    visit(0, items.count, key, body)
    for item in recent where item.low <= key && key <= item.high {
      if let element = item.element { body(element) }
    }
  }

  func forEach(_ body: (Element) -> Void) {
    for item in items { if let element = item.element { body(element) } }
    for item in recent { if let element = item.element { body(element) } }
  }

  private func visit(_ start: Int, _ end: Int, _ key: UInt64, _ body: (Element) -> Void) {
    var start = start
    while start < end {
      let root = (start + end) / 2
      if greatest[root] < key { return }
      visit(start, root, key, body)
      if items[root].low > key { return }
      if items[root].high >= key, let element = items[root].element { body(element) }
      start = root + 1
    }
  }

  private func firstIndex(atOrAbove low: UInt64) -> Int {
    var start = 0
    var end = items.count
    while start < end {
      let middle = (start + end) / 2
      if items[middle].low < low { start = middle + 1 } else { end = middle }
    }
    return start
  }

  private mutating func rebuild() {
    items = items.filter { $0.element != nil } + recent
    items.sort { $0.low < $1.low }
    recent = []
    removedCount = 0
    greatest = [UInt64](repeating: 0, count: items.count)
    _ = measure(0, items.count)
    _checkInvariants()
  }

  private mutating func measure(_ start: Int, _ end: Int) -> UInt64 {
    if start >= end { return 0 }
    let root = (start + end) / 2
    greatest[root] = max(items[root].high, measure(start, root), measure(root + 1, end))
    return greatest[root]
  }

  func _checkInvariants() {
    #if DEBUG
      assert(greatest.count == items.count)
      assert(zip(items, items.dropFirst()).allSatisfy { $0.low <= $1.low })
      assert(removedCount == items.count { $0.element == nil })
    #endif
  }
}
