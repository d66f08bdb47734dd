// RowDifference: how the rows of a result differ from those before, by position.
//
// Rows are the same object if they have the same id. Of objects that are in both results, as many
// as possible stay: a largest set whose relative order is unchanged. The others move. Common
// prefixes and suffixes are skipped, so in a small difference most rows cost a comparison of
// references.

struct RowDifference {
  /// The old positions of rows that have left, in ascending order.
  private(set) var removals: [Int] = []
  /// The new positions of rows that have entered, in ascending order.
  private(set) var insertions: [Int] = []
  /// The rows that have changed their position relative to the others, ascending by their new
  /// positions.
  private(set) var moves: [(from: Int, to: Int)] = []
  /// The rows whose content has changed, ascending by their new positions.
  private(set) var updates: [(from: Int, to: Int)] = []

  init(from old: ContiguousArray<Row>, to new: ContiguousArray<Row>, as layout: TableLayout) {
    func isSame(_ left: Row, _ right: Row) -> Bool {
      left.id == right.id && left.equals(right, as: layout)
    }
    var start = 0
    let shorter = min(old.count, new.count)
    while start < shorter, isSame(old[start], new[start]) { start += 1 }
    var oldEnd = old.count
    var newEnd = new.count
    while oldEnd > start, newEnd > start, isSame(old[oldEnd - 1], new[newEnd - 1]) {
      oldEnd -= 1
      newEnd -= 1
    }
    var places: [Int64: Int] = [:]
    for place in start..<oldEnd {
      if let earlier = places.updateValue(place, forKey: old[place].id) { removals.append(earlier) }
    }
    var common: [(from: Int, to: Int)] = []
    for to in start..<newEnd {
      guard let from = places.removeValue(forKey: new[to].id) else {
        insertions.append(to)
        continue
      }
      common.append((from, to))
      if !old[from].equals(new[to], as: layout) { updates.append((from, to)) }
    }
    removals = (removals + places.values).sorted()
    let staying = RowDifference.longestAscendingSubsequence(common.map(\.from))
    for index in common.indices where !staying[index] { moves.append(common[index]) }
  }

  /// Marks a longest ascending subsequence.
  private static func longestAscendingSubsequence(_ numbers: [Int]) -> [Bool] {
    if zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) {
      return [Bool](repeating: true, count: numbers.count)
    }
    // For each length, the index of the smallest number in which an ascending subsequence of that
    // length can end.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for place in numbers.indices {
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < numbers[place] { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[place] = ends[low - 1] }
      if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var isKept = [Bool](repeating: false, count: numbers.count)
    var place = ends.last ?? -1
    while place >= 0 {
      isKept[place] = true
      place = previous[place]
    }
    return isKept
  }
}
