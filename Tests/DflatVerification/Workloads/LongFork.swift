// Long fork: keys are written once each, and readers must not disagree on which was written first.
//
// Of two readers of the same keys one has read everything that the other has. So the readers of a
// group of keys, ordered by how much they have read, form a chain.

import DflatTestSupport

/// Single writes, and reads of all keys that are written at about the same time.
public struct LongFork: Workload {
  /// `long-fork`.
  public let name = "long-fork"
  /// Registers.
  public let keyUse = KeyUse.registers
  private let spaces: Int
  /// Keys of a set in each space.
  private let width: Int64 = 2

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
  }

  private func keys(ofSet number: Int64) -> [Key] {
    (0..<spaces).flatMap { space in
      (0..<width).map { Key(space, number * width + $0) }
    }
  }

  /// Writes a key that no other client writes, or reads its whole set.
  public func step(_ client: inout Client) -> Step {
    // One of eight steps writes. As many clients as a set has keys share the set, and each has its
    // own key in it.
    let size = Int(width) * spaces
    let set = Int64(client.number / size) << 24 | Int64(client.position / 8)
    let keys = keys(ofSet: set)
    if client.position % 8 == Int(set % 3) + 2 {
      let key = keys[client.number % size]
      let number = client.newNumber()
      return .transaction(spaces: [key.space]) { try $0.write(key, [number]) }
    }
    let order = keys.shuffled(using: &client.random)
    if client.random.oneIn(3) {
      return .transaction(spaces: Array(0..<spaces)) { for key in order { try $0.read(key) } }
    }
    return .snapshot { for key in order { try $0.read(key) } }
  }

  /// Readers of a set form a chain.
  public func invariantViolations(_ history: History) -> [Violation] {
    var readers: [Int64: [(seen: Set<Key>, number: Int)]] = [:]
    for (number, transaction) in history.transactions.enumerated()
    where transaction.outcome == .committed && transaction.operations.count == Int(width) * spaces {
      var seen: Set<Key> = []
      var sets: Set<Int64> = []
      for case .read(let key, let value) in transaction.operations {
        sets.insert(key.number / width)
        if value != nil { seen.insert(key) }
      }
      if sets.count == 1, let set = sets.first { readers[set, default: []].append((seen, number)) }
    }
    return readers.values.flatMap { readers -> [Violation] in
      let chain = readers.sorted { $0.seen.count < $1.seen.count }
      return zip(chain, chain.dropFirst()).compactMap { less, more in
        if less.seen.isSubset(of: more.seen) { return nil }
        return Violation(
          .longFork,
          "two readers, each of whom saw what the other did not\n  "
            + history.describe(less.number) + "\n  " + history.describe(more.number))
      }
    }
  }
}
