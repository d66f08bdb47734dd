// Bank: money moves between accounts, and its total is the same in every state.

import DflatTestSupport

/// Transfers between accounts, which never go below zero, and audits.
public struct Bank: Workload {
  /// `bank`.
  public let name = "bank"
  /// Registers: balance, then the version's number.
  public let keyUse = KeyUse.registers
  private let spaces: Int
  private let accounts: Int64 = 8
  private let initial: Int64 = 100

  /// Creates the workload over this many spaces.
  public init(spaces: Int) {
    self.spaces = spaces
  }

  private var all: [Key] {
    (0..<spaces).flatMap { space in (0..<accounts).map { Key(space, $0) } }
  }

  /// Opens the accounts.
  public func setUp(_ client: inout Client) -> Step? {
    let numbers = all.map { _ in client.newNumber() }
    return .transaction(spaces: Array(0..<spaces)) { [all, initial] access in
      for (key, number) in zip(all, numbers) { try access.write(key, [initial, number]) }
    }
  }

  /// Moves money, or sums up all accounts.
  public func step(_ client: inout Client) -> Step {
    let audit: @Sendable (RecordedReader) throws -> Void = { [spaces, accounts] reader in
      for space in 0..<spaces {
        for group in 0..<(accounts / 4) { try reader.read(group: group, in: space) }
      }
    }
    if client.random.oneIn(6) { return .snapshot(body: audit) }
    if client.random.oneIn(30) {
      return .transaction(spaces: Array(0..<spaces).shuffled(using: &client.random), body: audit)
    }
    let spaces = client.someSpaces(of: spaces, atMost: 2)
    let pair = (0..<2).map { _ in
      Key(client.random.pick(spaces), Int64.random(in: 0..<accounts, using: &client.random))
    }
    let (from, to) = (pair[0], pair[1])
    let amount = Int64.random(in: 1...30, using: &client.random)
    let numbers = (client.newNumber(), client.newNumber())
    return .transaction(spaces: spaces) { access in
      guard let source = try access.read(from), let target = try access.read(to), from != to,
        source[0] >= amount
      else { return }
      try access.write(from, [source[0] - amount, numbers.0])
      try access.write(to, [target[0] + amount, numbers.1])
    }
  }

  /// The sum of an audit is the initial one, and no account is negative.
  public func invariantViolations(_ history: History) -> [Violation] {
    let total = initial * Int64(spaces) * accounts
    let all = Set(all)
    return history.transactions.indices.compactMap { number in
      let transaction = history.transactions[number]
      guard transaction.outcome == .committed else { return nil }
      var balances: [Key: Int64] = [:]
      for case .read(let key, let value) in transaction.operations {
        balances[key] = value?.first ?? 0
      }
      if let negative = balances.first(where: { $0.value < 0 }) {
        return Violation(
          .invariant,
          "account \(negative.key) has \(negative.value)\n  " + history.describe(number))
      }
      let sum = balances.values.reduce(0, +)
      guard Set(balances.keys) == all, sum != total else { return nil }
      return Violation(
        .invariant, "the bank has \(sum) instead of \(total)\n  " + history.describe(number))
    }
  }
}
