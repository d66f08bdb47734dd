// Cycles in a graph: fragments that spread themselves, input objects that contain themselves.

/// Finds an arrow that closes a cycle, for each cycle; depth-first, without recursion, because
/// chains may be long.
///
/// - Parameters:
///   - count: The number of nodes.
///   - next: Where the arrows of a node lead; nil for arrows that lead nowhere.
///   - report: Called with the nodes of a cycle, the first being where its last arrow leads, and
///     with the number of that arrow among those of the last node.
func forEachCycle(
  among count: Int, next: (Int) -> [Int?], report: (ArraySlice<Int>, Int) -> Void
) {
  var isDone = [Bool](repeating: false, count: count)
  for start in 0..<count where !isDone[start] {
    var path = [start]
    var arrows: [(targets: [Int?], taken: Int)] = [(next(start), 0)]
    var places = [start: 0]
    while let node = path.last, let last = arrows.last {
      guard last.taken < last.targets.count else {
        path.removeLast()
        arrows.removeLast()
        places[node] = nil
        isDone[node] = true
        continue
      }
      arrows[arrows.count - 1].taken += 1
      guard let target = last.targets[last.taken], !isDone[target] else { continue }
      if let place = places[target] {
        report(path[place...], last.taken)
      } else {
        places[target] = path.count
        path.append(target)
        arrows.append((next(target), 0))
      }
    }
  }
}
