// DependencyGraph: which transaction must come before which.
//
//  - write-write: it wrote the version that the other one replaced;
//  - write-read: it wrote the version that the other one read;
//  - read-write: it read the version that the other one replaced;
//  - completed: the client was notified of its completion before the other one was called, by any
//    client;
//  - called: it wrote something, was called in the same workspace, its call had returned before the
//    other one was called, and both name a common space. Read-only transactions leave nothing that
//    the other one would have to see; see `CallOrder`.
//
// The last two would be edges between almost all pairs. So moments are nodes, too: a chain of the
// ends of all transactions, with edges to the transactions that follow. The graph then grows
// linearly with the history. The graph of an explainable history has no cycle.

/// A graph of transactions and moments.
struct DependencyGraph {
  enum Reason: UInt8 {
    case writeWrite, writeRead, readWrite, completed, called
    /// From moment to moment, and from a moment to a transaction.
    case time
  }

  struct Edge {
    let from: Int32
    let to: Int32
    let reason: Reason
    /// The position of the key in the version order.
    let key: Int32
  }

  /// Nodes below this index are transactions.
  let transactionCount: Int
  private(set) var nodeCount: Int
  private var edges: [Edge] = []
  /// The edges of node n are `sorted[starts[n]..<starts[n + 1]]`.
  private(set) var sorted: [Edge] = []
  private(set) var starts: [Int] = []

  /// - Parameter realTime: Where the order of calls and completions counts.
  init(_ history: History, _ order: VersionOrder, realTime: RealTime = .everywhere) {
    transactionCount = history.transactions.count
    nodeCount = transactionCount
    for (number, versions) in order.keys.enumerated() { add(versions, Int32(number)) }
    if realTime != .nowhere { addTimes(history, realTime) }
    sort()
  }

  func edges(from node: Int) -> ArraySlice<Edge> { sorted[starts[node]..<starts[node + 1]] }

  private mutating func add(_ from: Int?, _ to: Int?, _ reason: Reason, _ key: Int32 = -1) {
    if let from, let to, from != to {
      edges.append(Edge(from: Int32(from), to: Int32(to), reason: reason, key: key))
    }
  }

  private mutating func add(_ versions: KeyVersions, _ key: Int32) {
    let writers = versions.writers
    for (writer, next) in zip(writers, writers.dropFirst()) { add(writer, next, .writeWrite, key) }
    for (reader, version) in versions.reads {
      if version > 0 { add(writers[version - 1], reader, .writeRead, key) }
      if version < writers.count { add(reader, writers[version], .readWrite, key) }
    }
  }

  // MARK: Time

  private mutating func addTimes(_ history: History, _ realTime: RealTime) {
    struct Line: Hashable {
      let workspace: Int
      let space: Int
    }
    // The transactions whose completions count for each other.
    var circles: [Int: [Int]] = [:]
    var lines: [Line: [Int]] = [:]
    for (number, transaction) in history.transactions.enumerated()
    where transaction.outcome == .committed {
      circles[realTime == .everywhere ? 0 : transaction.workspace, default: []].append(number)
      for space in Set(transaction.spaces ?? []) {
        lines[Line(workspace: transaction.workspace, space: space), default: []].append(number)
      }
    }
    for circle in circles.values { addChain(circle, history, .completed) { $0.completed } }
    for line in lines.values { addChain(line, history, .called) { $0.returned } }
  }

  /// Every transaction that ended before another one was called has a path to it, through moments.
  private mutating func addChain(
    _ members: [Int], _ history: History, _ reason: Reason, end: (TransactionRecord) -> UInt64
  ) {
    let transactions = history.transactions
    let byCall = members.sorted { transactions[$0].called < transactions[$1].called }
    let byEnd = members.sorted { end(transactions[$0]) < end(transactions[$1]) }
    var ended = byEnd[...]
    var moment: Int?
    for next in byCall {
      while let earlier = ended.first, end(transactions[earlier]) < transactions[next].called {
        ended.removeFirst()
        if reason == .called, !transactions[earlier].isWriter { continue }
        let node = nodeCount
        nodeCount += 1
        add(earlier, node, reason)
        if let moment { add(moment, node, .time) }
        moment = node
      }
      if let moment { add(moment, next, .time) }
    }
  }

  /// Counting sort by source.
  private mutating func sort() {
    starts = Array(repeating: 0, count: nodeCount + 1)
    for edge in edges { starts[Int(edge.from) + 1] += 1 }
    for node in 0..<nodeCount { starts[node + 1] += starts[node] }
    var free = starts
    sorted = edges
    for edge in edges {
      sorted[free[Int(edge.from)]] = edge
      free[Int(edge.from)] += 1
    }
    edges = []
  }
}
