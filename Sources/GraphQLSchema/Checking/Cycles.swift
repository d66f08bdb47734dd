// Cycles in a graph: fragments that spread themselves, input objects that contain themselves,
// directives that use themselves.

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

/// The strongly connected components of a graph, by Tarjan's algorithm; without recursion, because
/// chains may be long.
///
/// - Parameters:
///   - count: The number of nodes.
///   - next: Where the arrows of a node lead.
func strongComponents(among count: Int, next: (Int) -> [Int]) -> [[Int]] {
  var components: [[Int]] = []
  /// When a node was met, and the earliest such time of what is reachable; nil if it was not met.
  var times = [(met: Int, earliest: Int)?](repeating: nil, count: count)
  var isOpen = [Bool](repeating: false, count: count)
  var open: [Int] = []
  var path: [(node: Int, targets: [Int], taken: Int)] = []
  var time = 0
  func enter(_ node: Int) {
    times[node] = (time, time)
    time += 1
    open.append(node)
    isOpen[node] = true
    path.append((node, next(node), 0))
  }
  func lower(_ node: Int, to earliest: Int) {
    if let known = times[node] { times[node] = (known.met, min(known.earliest, earliest)) }
  }
  for start in 0..<count where times[start] == nil {
    enter(start)
    while let (node, targets, taken) = path.last {
      if taken < targets.count {
        path[path.count - 1].taken += 1
        let target = targets[taken]
        if let known = times[target] {
          if isOpen[target] { lower(node, to: known.met) }
        } else {
          enter(target)
        }
        continue
      }
      path.removeLast()
      guard let (met, earliest) = times[node] else { continue }
      if let above = path.last { lower(above.node, to: earliest) }
      guard met == earliest, let first = open.lastIndex(of: node) else { continue }
      components.append(Array(open[first...]))
      for member in open[first...] { isOpen[member] = false }
      open.removeSubrange(first...)
    }
  }
  return components
}
