// IntervalIndex: finds which of many intervals contain a key.
//
// Intervals are stored in arrays, sorted by their lower bounds. Those that contain a key are in the
// prefix whose lower bounds are not above it, and have upper bounds that are not below it. Beside
// the arrays are the greatest upper bounds of each block of 16 intervals, of each 16 × 16, and so
// on: blocks whose greatest upper bound is below the key are skipped. So a look-up costs a
// logarithm of the number of intervals plus the number of matches, and matches are adjacent in
// memory.
//
// New intervals are first added to a short list of their own, and removed ones leave empty slots,
// until either are so many that the arrays are rebuilt. So each insertion and removal costs an
// amortized logarithm, too.

struct IntervalIndex<Element: AnyObject>: ~Copyable {
  private struct Item {
    let low: UInt64
    let high: UInt64
    let element: Element
  }

  private var lows: [UInt64] = []
  private var highs: [UInt64] = []
  /// nil after the element was removed.
  private var elements: [Element?] = []
  /// The greatest upper bounds of blocks of 16, of 256, …
  private var greatest: [[UInt64]] = []
  private var recent: [Item] = []
  private var removedCount = 0

  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ range: ClosedRange<UInt64>, _ element: Element) {
    recent.append(Item(low: range.lowerBound, high: range.upperBound, element: element))
    count += 1
    if recent.count > 32 + lows.count / 8 { rebuild() }
  }

  mutating func remove(_ range: ClosedRange<UInt64>, _ element: Element) {
    // An element may have several intervals, some with the same lower bound.
    let isNamed = { (item: Item) in
      item.element === element && item.low == range.lowerBound && item.high == range.upperBound
    }
    if let index = recent.firstIndex(where: isNamed) {
      recent.remove(at: index)
      count -= 1
      return
    }
    var index = firstIndex(where: { $0 >= range.lowerBound })
    while index < lows.count, lows[index] == range.lowerBound {
      if elements[index] === element, highs[index] == range.upperBound {
        elements[index] = nil
        removedCount += 1
        count -= 1
        if removedCount > 32 + lows.count / 2 { rebuild() }
        return
      }
      index += 1
    }
  }

  /// Calls `body` with each element whose interval contains a key.
  @inline(__always)
  func forEach(containing key: UInt64, _ body: (Element) -> Void) {
    let end = firstIndex(where: { $0 > key })
    highs.withUnsafeBufferPointer { highs in
      elements.withUnsafeBufferPointer { elements in
        var index = end == 0 ? 0 : skip(from: 0, key)
        while index < end {
          if highs[index] >= key, let element = elements[index] { body(element) }
          index += 1
          if index & 15 == 0, index < end { index = skip(from: index, key) }
        }
      }
    }
    for item in recent where item.low <= key && key <= item.high { body(item.element) }
  }

  func forEach(_ body: (Element) -> Void) {
    for element in elements { if let element { body(element) } }
    for item in recent { body(item.element) }
  }

  /// The first block of 16, from the one that begins at `start`, whose greatest upper bound is not
  /// below a key.
  private func skip(from start: Int, _ key: UInt64) -> Int {
    var index = start
    while index < lows.count {
      // The largest block that begins here and can be skipped.
      var level = 0
      while level < greatest.count, index & ((16 << (4 * level)) - 1) == 0,
        greatest[level][index >> (4 * level + 4)] < key
      {
        level += 1
      }
      if level == 0 { return index }
      index += 16 << (4 * (level - 1))
    }
    return index
  }

  /// The index of the first lower bound that satisfies a predicate, which must hold for all later
  /// ones, too.
  @inline(__always)
  private func firstIndex(where isBehind: (UInt64) -> Bool) -> Int {
    lows.withUnsafeBufferPointer { lows in
      var start = 0
      var end = lows.count
      while start < end {
        let middle = (start + end) / 2
        if isBehind(lows[middle]) { end = middle } else { start = middle + 1 }
      }
      return start
    }
  }

  private mutating func rebuild() {
    var items = recent
    for index in lows.indices {
      guard let element = elements[index] else { continue }
      items.append(Item(low: lows[index], high: highs[index], element: element))
    }
    items.sort { $0.low < $1.low }
    lows = items.map(\.low)
    highs = items.map(\.high)
    elements = items.map(\.element)
    recent = []
    removedCount = 0
    greatest = []
    var below = highs
    while below.count > 1 {
      let blocks = stride(from: 0, to: below.count, by: 16).map { start in
        below[start..<min(start + 16, below.count)].reduce(0, max)
      }
      greatest.append(blocks)
      below = blocks
    }
    _checkInvariants()
  }

  func _checkInvariants() {
    #if DEBUG
      assert(count == lows.count - removedCount + recent.count)
      assert(highs.count == lows.count && elements.count == lows.count)
      assert(zip(lows, lows.dropFirst()).allSatisfy { $0 <= $1 })
      assert(removedCount == elements.count { $0 == nil })
      assert(greatest.first.map { $0.count == (lows.count + 15) / 16 } ?? (lows.count <= 1))
    #endif
  }
}
