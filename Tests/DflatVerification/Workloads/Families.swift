// Families: objects that refer to each other are deleted, with all rules for deletions.
//
// Each operation on a family is appended to a list in the same transaction. The operations in the
// list determine what the family has to be: a reader of both compares them. The order of the lists
// is checked like that of any other.

import DflatTestSupport

/// Operations on families of objects, in the order of lists.
public struct Families: Workload {
  /// `families`.
  public let name = "families"
  /// Lists.
  public let keyUse = KeyUse.lists
  private let spaces: Int

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
  }

  /// Changes a family several times, or looks at one or two.
  public func step(_ client: inout Client) -> Step {
    // Three families serve 12 steps of each client.
    let base = Int64(client.position / 12) * 3
    let lists = (0..<2).map { _ in
      let family = base + Int64.random(in: 0..<3, using: &client.random)
      return Key(Int(family) % spaces, family)
    }
    if client.random.oneIn(4) {
      return .snapshot { reader in
        for list in lists {
          try reader.read(list)
          try reader.observe(family: list.number)
        }
      }
    }
    let list = lists[0]
    let numbers = (0..<Int.random(in: 1...3, using: &client.random)).map { _ in client.newNumber() }
    let looks = client.random.oneIn(2)
    let aborts = client.random.oneIn(20)
    let named = [list.space, spaces].shuffled(using: &client.random)
    return .transaction(spaces: named) { access in
      if looks { try access.read(list) }
      for number in numbers {
        if looks { try access.observe(family: list.number) }
        try access.change(family: list.number, number, log: list)
      }
      if looks { try access.observe(family: list.number) }
      if aborts { throw WantsAbort() }
    }
  }

  /// What was seen of a family is what the operations before it have made of it.
  public func invariantViolations(_ history: History) -> [Violation] {
    var violations: [Violation] = []
    for (number, transaction) in history.transactions.enumerated()
    where transaction.outcome == .committed {
      var lists: [Int64: CellValue] = [:]
      for operation in transaction.operations {
        switch operation {
        case .read(let key, let value): lists[key.number] = value ?? []
        case .append(let key, let value): lists[key.number]?.append(value)
        case .observe(let family, let found):
          guard let operations = lists[family] else { continue }
          let wanted = FamilyState(after: operations, of: family).encoded
          if found == wanted { continue }
          violations.append(
            Violation(
              .invariant,
              "family \(family) is \(found) instead of \(wanted), after \(operations.count) "
                + "operations\n  " + history.describe(number)))
        case .write: continue
        }
      }
    }
    return violations
  }
}
