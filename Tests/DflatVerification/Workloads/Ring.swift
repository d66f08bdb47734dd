// Ring: each key names another one, and together they are one ring, whatever is changed.
//
// A change takes three neighbours a → b → c → d and makes them a → c → b → d. A change that goes by anything outdated breaks
// the ring into several, or leaves keys out.

import DflatTestSupport

/// Changes of a ring and walks around it.
public struct Ring: Workload {
  /// `cycle`.
  public let name = "cycle"
  /// Registers: the next node, then the version's number.
  public let keyUse = KeyUse.registers
  private let spaces: Int
  private let count: Int64

  /// Over so many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
    count = Int64(spaces) * 4
  }

  /// Neighbours are in different spaces.
  private func key(_ node: Int64) -> Key {
    Key(Int(node % Int64(spaces)), node / Int64(spaces))
  }

  /// Makes the ring 0 → 1 → … → 0.
  public func setUp(_ client: inout Client) -> Step? {
    let numbers = (0..<count).map { _ in client.newNumber() }
    return .transaction(spaces: Array(0..<spaces)) { [self] access in
      for node in 0..<count {
        try access.write(key(node), [(node + 1) % count, numbers[Int(node)]])
      }
    }
  }

  /// Changes three neighbours, or reads the whole ring.
  public func step(_ client: inout Client) -> Step {
    let count = count
    if client.random.oneIn(4) {
      let spaces = spaces
      return .snapshot { for space in 0..<spaces { try $0.read(group: 0, in: space) } }
    }
    let a = Int64.random(in: 0..<count, using: &client.random)
    let numbers = (client.newNumber(), client.newNumber(), client.newNumber())
    return .transaction(spaces: Array(0..<spaces).shuffled(using: &client.random)) {
      [self] access in
      guard let b = try access.read(key(a))?.first, let c = try access.read(key(b))?.first,
        let d = try access.read(key(c))?.first, Set([a, b, c]).count == 3
      else { throw WantsAbort() }
      try access.write(key(a), [c, numbers.0])
      try access.write(key(c), [b, numbers.1])
      try access.write(key(b), [d, numbers.2])
    }
  }

  /// Whoever reads all keys finds one ring.
  public func invariantViolations(_ history: History) -> [Violation] {
    history.transactions.indices.compactMap { number in
      let transaction = history.transactions[number]
      guard transaction.outcome == .committed else { return nil }
      var next: [Key: Int64] = [:]
      for case .read(let key, let value?) in transaction.operations { next[key] = value[0] }
      guard next.count == Int(count) else { return nil }
      var visited: Set<Int64> = []
      var node: Int64 = 0
      while visited.insert(node).inserted, let following = next[key(node)] { node = following }
      if visited.count == Int(count), node == 0 { return nil }
      return Violation(
        .invariant,
        "the ring of \(count) is one of \(visited.count)\n  " + history.describe(number))
    }
  }
}
