// The checker on hand-written histories: each contains exactly one violation.

import DflatVerification
import Testing

@Suite("The history checker")
struct CheckerTests {
  private let a = Key(0, 0)
  private let b = Key(1, 0)

  /// Transactions one after another: the first is called at 10 and complete at 19, the next at 20,
  /// and so on.
  private func history(_ work: [[Operation]], refused: Set<Int> = []) -> History {
    History(
      work.enumerated().map { number, operations in
        let record = TransactionRecord(client: number, workspace: 0, spaces: [0, 1])
        record.operations = operations
        record.outcome = refused.contains(number) ? .refused : .committed
        place(record, at: UInt64(number + 1) * 10)
        return record
      })
  }

  private func place(_ record: TransactionRecord, at time: UInt64) {
    record.called = time
    record.returned = time + 1
    record.began = time + 2
    record.ended = time + 3
    record.completed = time + 9
  }

  /// A transaction of another workspace that finds nothing in `a`.
  private func elsewhere(at time: UInt64) -> TransactionRecord {
    let record = TransactionRecord(client: 1, workspace: 1, spaces: [0])
    record.operations = [.read(a, nil)]
    record.outcome = .committed
    place(record, at: time)
    return record
  }

  /// Makes all of them concurrent, so that time implies no order.
  private func together(_ history: History) -> History {
    for (number, record) in history.transactions.enumerated() {
      record.called = 1
      record.returned = 100
      record.began = UInt64(10 + number)
      record.ended = UInt64(10 + number)
      record.completed = 100
    }
    return history
  }

  private func kinds(_ history: History, _ use: KeyUse) -> Set<Violation.Kind> {
    Set(history.violations(of: use).map(\.kind))
  }

  @Test("A serial history of lists has no violation")
  func serialLists() {
    let history = history(
      [
        [.append(a, 1), .read(a, [1]), .append(b, 2)],
        [.read(a, [1]), .append(a, 3), .append(a, 4), .read(a, [1, 3, 4])],
        [.append(a, 5)],
        [.read(a, [1, 3, 4]), .read(b, [2])],
      ], refused: [2])
    #expect(history.violations(of: .lists).map(\.description) == [])
  }

  @Test("A serial history of registers has no violation")
  func serialRegisters() {
    let history = history([
      [.read(a, nil), .write(a, [7, 1])],
      [.read(a, [7, 1]), .write(a, [8, 2]), .read(a, [8, 2])],
      [.read(b, nil), .write(b, [3])], [.read(a, [8, 2]), .read(b, [3])],
    ])
    #expect(history.violations(of: .registers).map(\.description) == [])
  }

  @Test("Lists: lost, aborted, unwritten and own values are reported")
  func lists() {
    #expect(kinds(history([[.append(a, 1)], [.read(a, nil)]]), .lists) == [.lostWrite])
    #expect(
      kinds(history([[.append(a, 1)], [.read(a, [1])]], refused: [0]), .lists) == [.abortedRead])
    #expect(
      kinds(history([[.append(a, 1)], [.read(a, [1, 9])]]), .lists) == [.unwrittenRead])
    #expect(
      kinds(history([[.append(a, 1), .read(a, nil)], [.read(a, [1])]]), .lists) == [.ownWrite])
    #expect(
      kinds(
        history([[.append(a, 1)], [.append(a, 2)], [.read(a, [2])], [.read(a, [1, 2])]]), .lists)
        == [.incompatibleReads])
  }

  @Test("Registers: lost, aborted, unwritten and intermediate values are reported")
  func registers() {
    #expect(
      kinds(
        history([
          [.write(a, [1])], [.read(a, [1]), .write(a, [2])], [.read(a, [1]), .write(a, [3])],
        ]), .registers
      ).contains(.lostUpdate))
    #expect(
      kinds(history([[.write(a, [1])], [.read(a, [1])]], refused: [0]), .registers)
        == [.abortedRead])
    #expect(kinds(history([[.read(a, [1])]]), .registers) == [.unwrittenRead])
    #expect(
      kinds(history([[.write(a, [1]), .write(a, [2])], [.read(a, [1])]]), .registers)
        == [.intermediateRead])
    #expect(
      kinds(history([[.write(a, [1]), .read(a, nil)]]), .registers) == [.ownWrite])
    #expect(
      kinds(together(history([[.write(a, [1])], [.read(a, nil), .read(a, [1])]])), .registers)
        .contains(.incompatibleReads))
  }

  @Test("Two readers that each replace what the other read are a cycle, though they are concurrent")
  func writeSkew() {
    let skew = together(
      history([
        [.read(a, nil), .append(b, 1)], [.read(b, nil), .append(a, 2)],
        [.read(a, [2]), .read(b, [1])],
      ]))
    let violations = skew.violations(of: .lists)
    #expect(violations.map(\.kind) == [.cycle])
    #expect(violations[0].proof.hasPrefix("2 transactions"))
    #expect(violations[0].proof.contains("T0 saw the version of 0/0 that T1 replaced"))
    #expect(violations[0].proof.contains("T1 saw the version of 1/0 that T0 replaced"))
  }

  @Test("The shortest of several cycles is reported")
  func shortest() {
    // T0 → T1 → T2 → T0 by reads, and T1 ⇄ T2.
    let c = Key(2, 0)
    let history = together(
      history([
        [.read(a, nil), .append(c, 1)], [.read(b, nil), .append(a, 2)],
        [.read(c, nil), .read(a, nil), .append(b, 3)],
        [.read(a, [2]), .read(b, [3]), .read(c, [1])],
      ]))
    let violations = history.violations(of: .lists)
    #expect(violations.map(\.kind) == [.cycle])
    #expect(violations[0].proof.hasPrefix("2 transactions"))
  }

  @Test("A call after a completion sees it; without real time any possible order is accepted")
  func realTime() {
    let late = history([[.append(a, 1)], [.read(a, nil)], [.read(a, [1])]])
    #expect(kinds(late, .lists) == [.cycle])
    #expect(late.violations(of: .lists, realTime: .nowhere).isEmpty)
    #expect(!late.violations(of: .lists, realTime: .insideWorkspaces).isEmpty)
    let apart = History([late.transactions[0], elsewhere(at: 20), late.transactions[2]])
    #expect(kinds(apart, .lists) == [.cycle])
    #expect(apart.violations(of: .lists, realTime: .insideWorkspaces).isEmpty)
    #expect(kinds(together(late), .lists).isEmpty)
  }

  @Test("In one workspace the order of calls counts before anything is complete")
  func callOrder() {
    let history = history([[.append(a, 1)], [.read(a, nil)], [.read(a, [1])]])
    history.transactions[0].completed = 100
    history.transactions[1].completed = 100
    #expect(kinds(history, .lists) == [.cycle])
    // In another workspace it does not.
    let apart = History([
      history.transactions[0], elsewhere(at: 20), history.transactions[2],
    ])
    #expect(kinds(apart, .lists).isEmpty)
  }

  @Test("A body that begins before an earlier one has ended is reported, whatever they do")
  func bodies() {
    let history = history([[.read(a, nil)], [.read(a, nil)]])
    history.transactions[0].ended = 50
    history.transactions[0].completed = 60
    #expect(kinds(history, .lists) == [.callOrder])
  }

  @Test("A transaction that never completes is reported")
  func open() {
    let history = history([[.read(a, nil)]])
    history.transactions[0].outcome = .open
    #expect(kinds(history, .lists) == [.completion])
  }

  @Test("A history can be passed to another process")
  func coding() throws {
    let history = history(
      [[.append(a, 1), .read(a, [1]), .read(b, nil)], [.write(b, [1, -2])]], refused: [1])
    let copy = try History(encoded: history.encoded())
    #expect(copy.transactions.map(\.operations) == history.transactions.map(\.operations))
    #expect(copy.transactions.map(\.outcome) == history.transactions.map(\.outcome))
    #expect(copy.transactions.map(\.called) == history.transactions.map(\.called))
    #expect(copy.transactions.map(\.ended) == history.transactions.map(\.ended))
    #expect(copy.transactions.map(\.spaces) == history.transactions.map(\.spaces))
    #expect(throws: UnreadableHistory.self) {
      try History(encoded: history.encoded().dropLast(8))
    }
  }
}
