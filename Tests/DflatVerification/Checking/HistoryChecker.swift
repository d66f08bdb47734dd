// HistoryChecker: whether a history can be explained by transactions that ran one at a time, in an
// order that agrees with the completions that clients waited for.

/// Where an order of transactions counts only if it agrees with the order of calls and completions.
public enum RealTime: Sendable {
  case everywhere
  /// Among the transactions of each workspace.
  case insideWorkspaces
  case nowhere
}

/// How a workload uses its keys, which determines how versions are found.
public enum KeyUse: Sendable {
  case lists
  case registers
}

extension History {
  /// The violations that the history proves; empty if an order explains everything. It takes about
  /// linear time.
  ///
  /// - Parameters:
  ///   - use: How keys were used.
  ///   - realTime: Where the order of calls and completions counts.
  public func violations(of use: KeyUse, realTime: RealTime = .everywhere) -> [Violation] {
    var found = complaints.map { Violation(.unexpectedError, $0) }
    for (number, transaction) in transactions.enumerated() where transaction.outcome == .open {
      found.append(Violation(.completion, "no completion of\n  " + describe(number)))
    }
    let order =
      switch use {
      case .lists: VersionOrder(lists: self)
      case .registers: VersionOrder(registers: self)
      }
    found += order.violations
    if realTime != .nowhere { found += callOrderViolations().prefix(100) }
    let graph = DependencyGraph(self, order, realTime: realTime)
    for component in graph.cyclicComponents().prefix(5) {
      let cycle = graph.shortestCycle(in: component)
      found.append(Violation(.cycle, graph.describe(cycle, self, order)))
    }
    return found
  }
}
