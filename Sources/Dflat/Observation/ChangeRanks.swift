// ChangeRanks: all changes of a transaction, sorted once for all results that share an order.
//
// A change has a rank by its old row and one by its new row, if it has them. A result that is
// touched by many changes marks their ranks in a bit set with one bit for each change of the
// transaction, and reads the bits in order; it compares no rows.
//
// The cost follows the number of touches, not the number of changes times the number of orders:
// changes are ranked only once the results with that order have more touches in total than there
// are changes, and only results that are touched by one change in 64 or more scan the bits.

final class ChangeRanks {
  /// Whether the sort keys of each changed row differ from those before the change.
  let isMoved: [Bool]
  private let old: [UInt32]
  private let new: [UInt32]
  /// The ranks of the touches that are being sorted, and for each rank the position of its touch.
  private var marks: [UInt64]
  private var places: [UInt32]

  private init(_ order: ChangeOrder) {
    let changes = order.changes
    func ranks(_ side: ChangeOrder.Side) -> [UInt32] {
      var touches = ContiguousArray<ResultTouch>()
      for index in changes.indices
      where (side == .old ? changes[index].old : changes[index].new) != nil {
        touches.append(ResultTouch(change: UInt32(index), wasIn: true, isIn: true))
      }
      order.sort(&touches, by: side)
      var ranks = [UInt32](repeating: 0, count: changes.count)
      for (rank, touch) in touches.enumerated() { ranks[Int(touch.change)] = UInt32(rank) }
      return ranks
    }
    isMoved = changes.indices.map { order.isMoved($0) }
    old = ranks(.old)
    new = ranks(.new)
    marks = [UInt64](repeating: 0, count: (changes.count + 63) / 64)
    places = [UInt32](repeating: 0, count: changes.count)
  }

  /// Sorts touches by the old or the new rows of their changes. Each change must have that row.
  func sort(_ touches: inout ContiguousArray<ResultTouch>, by side: ChangeOrder.Side) {
    let unsorted = touches
    let ranks = side == .old ? old : new
    for (place, touch) in unsorted.enumerated() {
      let rank = Int(ranks[Int(touch.change)])
      marks[rank / 64] |= 1 << UInt64(rank % 64)
      places[rank] = UInt32(place)
    }
    var next = 0
    for word in marks.indices where marks[word] != 0 {
      var bits = marks[word]
      marks[word] = 0
      while bits != 0 {
        touches[next] = unsorted[Int(places[word * 64 + bits.trailingZeroBitCount])]
        next += 1
        bits &= bits - 1
      }
    }
  }

  /// The orders of the results that a transaction touches.
  struct Table {
    let changes: UnsafeBufferPointer<RowChange>
    private var entries: [[Term]: Entry] = [:]

    private struct Term: Hashable {
      let path: String
      let isDescending: Bool
    }

    private struct Entry {
      /// The touches so far of all results with this order.
      var asked = 0
      var ranks: ChangeRanks?
    }

    init(_ changes: UnsafeBufferPointer<RowChange>) {
      self.changes = changes
    }

    /// The order of a result.
    /// - Parameter count: The number of changes that touch it.
    mutating func order(_ terms: [OrderTerm], _ keys: [SortKey], touching count: Int) -> ChangeOrder
    {
      // Row ids need no ranks. An order by positions in a collection or by a computed value belongs
      // to a single query.
      guard count > 8, count * 64 > changes.count, !keys.isEmpty,
        terms.allSatisfy({ $0.positions == nil && $0.field != nil })
      else { return ChangeOrder(changes, by: keys) }
      let name = terms.map { Term(path: $0.field?.path ?? "", isDescending: $0.isDescending) }
      var entry = entries[name] ?? Entry()
      entry.asked += count
      if entry.ranks == nil, entry.asked > changes.count {
        entry.ranks = ChangeRanks(ChangeOrder(changes, by: keys))
      }
      entries[name] = entry
      return ChangeOrder(changes, by: keys, entry.ranks)
    }
  }
}
