// Ring: each key refers to another one, and together they form a single ring, whatever changes.
//
// A change takes three neighbours a → b → c → d and makes them a → c → b → d. A change that is
// based on outdated reads breaks the ring into several, or leaves keys out. There is a ring in each
// space, whose changes run concurrently with those of the others, and one through all spaces.

import DflatTestSupport

/// Changes of rings and walks around them.
public struct Ring: Workload {
  /// `cycle`.
  public let name = "cycle"
  /// Registers: the next node, then the version's number.
  public let keyUse = KeyUse.registers
  private let spaces: Int
  /// The keys of each ring.
  private let rings: [[Key]]

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
    let own = (0..<spaces).map { space in (4..<12).map { Key(space, $0) } }
    // Neighbours are in different spaces.
    let common = (0..<Int64(4)).flatMap { number in (0..<spaces).map { Key($0, number) } }
    rings = own + [common]
  }

  /// Creates the rings 0 → 1 → … → 0.
  public func setUp(_ client: inout Client) -> Step? {
    let numbers = rings.map { $0.map { _ in client.newNumber() } }
    return .transaction(spaces: Array(0..<spaces)) { [rings] access in
      for (ring, numbers) in zip(rings, numbers) {
        for (node, key) in ring.enumerated() {
          try access.write(key, [Int64((node + 1) % ring.count), numbers[node]])
        }
      }
    }
  }

  /// Changes three neighbours, or reads all rings.
  public func step(_ client: inout Client) -> Step {
    let spaces = spaces
    if client.random.oneIn(4) {
      return .snapshot { reader in
        for space in 0..<spaces {
          for group in 0..<Int64(3) { try reader.read(group: group, in: space) }
        }
      }
    }
    let ring = client.random.pick(rings)
    // Naming more spaces than needed makes no difference.
    let named = Set(ring.map(\.space)).union(
      client.random.oneIn(3) ? client.someSpaces(of: spaces, atMost: spaces) : [])
    let start = Int64.random(in: 0..<Int64(ring.count), using: &client.random)
    let numbers = (client.newNumber(), client.newNumber(), client.newNumber())
    return .transaction(spaces: named.shuffled(using: &client.random)) { access in
      func key(_ node: Int64) -> Key { ring[Int(node)] }
      let a = start
      guard let b = try access.read(key(a))?.first, let c = try access.read(key(b))?.first,
        let d = try access.read(key(c))?.first, Set([a, b, c]).count == 3
      else { throw WantsAbort() }
      try access.write(key(a), [c, numbers.0])
      try access.write(key(c), [b, numbers.1])
      try access.write(key(b), [d, numbers.2])
    }
  }

  /// A reader of all keys of a ring finds one ring.
  public func invariantViolations(_ history: History) -> [Violation] {
    history.transactions.indices.flatMap { number -> [Violation] in
      let transaction = history.transactions[number]
      guard transaction.outcome == .committed else { return [] }
      var next: [Key: Int64] = [:]
      for case .read(let key, let value?) in transaction.operations { next[key] = value[0] }
      return rings.compactMap { ring in
        guard ring.allSatisfy({ next[$0] != nil }) else { return nil }
        var visited: Set<Int64> = []
        var node: Int64 = 0
        while visited.insert(node).inserted, let following = next[ring[Int(node)]] {
          node = following
        }
        if visited.count == ring.count, node == 0 { return nil }
        return Violation(
          .invariant,
          "the ring of \(ring.count) from \(ring[0]) is one of \(visited.count)\n  "
            + history.describe(number))
      }
    }
  }
}
