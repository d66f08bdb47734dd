// CallOrder: in one workspace the bodies of transactions that share a space run one after another,
// in the order of the calls.
//
// This holds for any two of them, whether or not their effects depend on the order. So it is
// checked directly: for each space, every transaction begins after the end of all transactions
// whose call had returned before it was called, and no two of them run at the same time.

extension History {
  /// Transactions that began too early.
  func callOrderViolations() -> [Violation] {
    struct Line: Hashable {
      let workspace: Int
      let space: Int
    }
    var lines: [Line: [Int]] = [:]
    for (number, transaction) in transactions.enumerated()
    where transaction.began > 0 && transaction.outcome != .open {
      for space in Set(transaction.spaces ?? []) {
        lines[Line(workspace: transaction.workspace, space: space), default: []].append(number)
      }
    }
    return lines.sorted { ($0.key.workspace, $0.key.space) < ($1.key.workspace, $1.key.space) }
      .flatMap { outOfOrder($0.value, $0.key.space) + overlapping($0.value, $0.key.space) }
  }

  private func outOfOrder(_ line: [Int], _ space: Int) -> [Violation] {
    let byCall = line.sorted { transactions[$0].called < transactions[$1].called }
    var returned = line.sorted { transactions[$0].returned < transactions[$1].returned }[...]
    var latest: Int?
    return byCall.compactMap { number in
      let transaction = transactions[number]
      while let earlier = returned.first, transactions[earlier].returned < transaction.called {
        returned.removeFirst()
        if transactions[earlier].ended > latest.map({ transactions[$0].ended }) ?? 0 {
          latest = earlier
        }
      }
      guard let latest, transactions[latest].ended > transaction.began else { return nil }
      return Violation(
        .callOrder,
        "T\(latest) was called first, and T\(number) began before it had ended, in space \(space)"
          + "\n  " + describe(latest) + "\n  " + describe(number))
    }
  }

  private func overlapping(_ line: [Int], _ space: Int) -> [Violation] {
    let byBegin = line.sorted { transactions[$0].began < transactions[$1].began }
    return zip(byBegin, byBegin.dropFirst()).compactMap { first, second in
      if transactions[first].ended <= transactions[second].began { return nil }
      return Violation(
        .callOrder,
        "T\(first) and T\(second) ran at the same time in space \(space)\n  " + describe(first)
          + "\n  " + describe(second))
    }
  }
}
