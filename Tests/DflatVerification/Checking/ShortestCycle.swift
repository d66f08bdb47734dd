// The shortest cycle of a component, and its description.

extension DependencyGraph {
  /// A step of a cycle from one transaction to the next.
  struct Step {
    let from: Int
    let to: Int
    let reason: Reason
    let key: Int32
  }

  /// The cycle with the fewest transactions, among those through a bounded number of the
  /// component's transactions.
  func shortestCycle(in component: [Int]) -> [Step] {
    let members = Set(component)
    // In a large component each search is long, and short cycles are everywhere.
    let starts = component.filter { $0 < transactionCount }.sorted()
      .prefix(component.count > 1000 ? 10 : 200)
    var best: [Step] = []
    for start in starts {
      let cycle = shortestCycle(from: start, members, shorterThan: best.isEmpty ? .max : best.count)
      if let cycle { best = cycle }
      if best.count == 2 { break }
    }
    return best
  }

  /// A step to a transaction costs one, a step to a moment nothing: a 0-1 breadth-first search.
  private func shortestCycle(
    from start: Int, _ members: Set<Int>, shorterThan limit: Int
  ) -> [Step]? {
    var cost: [Int: Int] = [start: 0]
    var arrival: [Int: Edge] = [:]
    var front = [start]
    var distance = 0
    while !front.isEmpty, distance < limit {
      var next: [Int] = []
      var position = 0
      while position < front.count {
        let node = front[position]
        position += 1
        guard cost[node] == distance else { continue }
        for edge in edges(from: node) where members.contains(Int(edge.to)) {
          let target = Int(edge.to)
          if target == start {
            return distance + 1 < limit ? steps(back: edge, arrival, start) : nil
          }
          let isMoment = target >= transactionCount
          let reached = distance + (isMoment ? 0 : 1)
          if let known = cost[target], known <= reached { continue }
          cost[target] = reached
          arrival[target] = edge
          if isMoment { front.append(target) } else { next.append(target) }
        }
      }
      front = next
      distance += 1
    }
    return nil
  }

  /// Follows the predecessors back to the start, omitting moments.
  private func steps(back last: Edge, _ arrival: [Int: Edge], _ start: Int) -> [Step] {
    var path = [last]
    while let edge = path.last, Int(edge.from) != start, let before = arrival[Int(edge.from)] {
      path.append(before)
    }
    var steps: [Step] = []
    var from = start
    var reason: (Reason, Int32)?
    for edge in path.reversed() {
      if edge.reason != .time { reason = (edge.reason, edge.key) }
      let target = Int(edge.to)
      if target < transactionCount, let (kind, key) = reason {
        steps.append(Step(from: from, to: target, reason: kind, key: key))
        from = target
      }
    }
    return steps
  }

  /// Describes a cycle.
  func describe(_ cycle: [Step], _ history: History, _ order: VersionOrder) -> String {
    var lines = ["\(cycle.count) transactions, each before the next and the last before the first"]
    for step in cycle { lines.append("  " + history.describe(step.from)) }
    for step in cycle {
      let why =
        switch step.reason {
        case .writeWrite: "wrote the version of \(key(step, order)) that T\(step.to) replaced"
        case .writeRead: "wrote the version of \(key(step, order)) that T\(step.to) saw"
        case .readWrite: "saw the version of \(key(step, order)) that T\(step.to) replaced"
        case .completed:
          "had completed \(gap(step, history) { $0.completed }) before T\(step.to) was called"
        case .called:
          "was called \(gap(step, history) { $0.returned }) before T\(step.to), in the same workspace"
        case .time: "comes before T\(step.to)"
        }
      lines.append("  T\(step.from) \(why)")
    }
    return lines.joined(separator: "\n")
  }

  private func key(_ step: Step, _ order: VersionOrder) -> String {
    "\(order.keys[Int(step.key)].key)"
  }

  private func gap(
    _ step: Step, _ history: History, _ end: (TransactionRecord) -> UInt64
  ) -> String {
    let later = history.transactions[step.to].called
    return "\(Int64(bitPattern: later &- end(history.transactions[step.from])) / 1000) µs"
  }
}
