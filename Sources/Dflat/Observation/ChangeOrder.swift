// ChangeOrder: the changes of a transaction in the order of an observed result.
//
// A result is maintained in one pass over its rows, so the changes that touch it are sorted first:
// once by their old rows and once by their new ones. The first sort key of a row is read once, as a
// number in the order of the values; rows are compared only if their numbers are equal. Results
// that share an order and are touched by many changes share the sorting, too: see ChangeRanks.

import FlatBuffersRuntime

struct ChangeOrder {
  let changes: UnsafeBufferPointer<RowChange>
  /// No keys: the order of row ids.
  let keys: [SortKey]
  /// The fields of the root table that the keys depend on.
  private let mask: UInt64
  private let ranks: ChangeRanks?

  enum Side {
    case old, new
  }

  init(
    _ changes: UnsafeBufferPointer<RowChange>, by keys: [SortKey], _ ranks: ChangeRanks? = nil
  ) {
    self.changes = changes
    self.keys = keys
    self.ranks = ranks
    mask = keys.reduce(0) { $0 | $1.mask }
  }

  /// Whether the sort keys of a changed row differ from those before the change.
  func isMoved(_ index: Int) -> Bool {
    if changes[index].fields & mask == 0 { return false }
    if let ranks { return ranks.isMoved[index] }
    guard let old = changes[index].old, let new = changes[index].new else { return true }
    return compare(keys, old, new) != 0
  }

  /// Sorts touches by the old or the new rows of their changes. Each change must have that row.
  func sort(_ touches: inout ContiguousArray<ResultTouch>, by side: Side) {
    if touches.count < 2 { return }
    if let ranks { return ranks.sort(&touches, by: side) }
    withUnsafeTemporaryAllocation(of: Entry.self, capacity: touches.count) { memory in
      var entries = memory
      var isSorted = true
      for (place, touch) in touches.enumerated() {
        let entry = Entry(prefix: prefix(Int(touch.change), side), touch: touch)
        entries.initializeElement(at: place, to: entry)
        isSorted = isSorted && (place == 0 || isBefore(entries[place - 1], entry, side))
      }
      // Changes mostly arrive in the order of row ids, which is the order of many results.
      if isSorted { return }
      entries.sort { isBefore($0, $1, side) }
      for place in entries.indices { touches[place] = entries[place].touch }
    }
  }

  private struct Entry {
    /// The first sort key.
    let prefix: UInt64
    let touch: ResultTouch
  }

  @inline(__always)
  private func isBefore(_ left: Entry, _ right: Entry, _ side: Side) -> Bool {
    if left.prefix != right.prefix { return left.prefix < right.prefix }
    return areInOrder(Int(left.touch.change), Int(right.touch.change), side)
  }

  /// Whether one row comes before another one with the same prefix.
  @inline(never)
  private func areInOrder(_ left: Int, _ right: Int, _ side: Side) -> Bool {
    guard let left = row(left, side), let right = row(right, side) else {
      preconditionFailure("a change is sorted by a row that it does not have")
    }
    return Dflat.isBefore(keys, left, right)
  }

  @inline(__always)
  private func row(_ index: Int, _ side: Side) -> Row? {
    side == .old ? changes[index].old : changes[index].new
  }

  @inline(__always)
  private func prefix(_ index: Int, _ side: Side) -> UInt64 {
    guard let key = keys.first else { return OrderKey.key(changes[index].id, .int64) }
    // The change retains the row.
    return row(index, side).map { key.prefix(of: $0.unretainedTable) } ?? 0
  }
}

extension SortKey {
  /// A number for a row: rows with different numbers are in the order of these numbers.
  func prefix(of table: TableReader) -> UInt64 {
    // Unknown values come first.
    let prefix = knownPrefix(of: table) ?? 0
    return isDescending ? ~prefix : prefix
  }

  private func knownPrefix(of table: TableReader) -> UInt64? {
    program.withScratch { knownPrefix(of: table, $0) }
  }

  @inline(__always)
  private func knownPrefix(of table: TableReader, _ scratch: ScratchMemory) -> UInt64? {
    if positions != nil { return position(table, scratch).map { UInt64($0 + 1) } }
    let index = program.result
    switch type {
    case .string: return program.utf8(index, table, scratch).map { OrderKey.prefix($0) }
    case .float, .double: return program.real(index, table, scratch).map { OrderKey.key($0) }
    default: return program.integer(index, table, scratch).map { OrderKey.key($0, type) }
    }
  }
}
