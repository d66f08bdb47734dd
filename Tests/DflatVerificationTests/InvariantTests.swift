// The invariants of workloads, on hand-written states: a valid state passes, each violation is
// reported.

import DflatVerification
import Testing

@Suite("Invariants of workloads")
struct InvariantTests {
  private func reader(_ values: [(Key, CellValue?)]) -> TransactionRecord {
    let record = TransactionRecord(client: 1, workspace: 0, spaces: nil)
    record.outcome = .committed
    record.operations = values.map { .read($0.0, $0.1) }
    return record
  }

  private func kinds(_ workload: any Workload, _ readers: [TransactionRecord]) -> [Violation.Kind] {
    workload.invariantViolations(History(readers)).map(\.kind)
  }

  @Test("The bank has its initial total, and no account is negative")
  func bank() {
    func audit(_ last: Int64) -> TransactionRecord {
      reader((0..<8).map { (Key(0, $0), [$0 == 7 ? last : 100, $0]) })
    }
    #expect(kinds(Bank(spaces: 1), [audit(100)]) == [])
    #expect(kinds(Bank(spaces: 1), [audit(101)]) == [.invariant])
    let owing = reader([(Key(0, 0), [-1, 1])])
    #expect(kinds(Bank(spaces: 1), [owing]) == [.invariant])
  }

  @Test("A ring is one ring")
  func ring() {
    func walk(_ next: [Int64]) -> TransactionRecord {
      reader(next.enumerated().map { (Key(0, Int64($0.offset)), [$0.element, 1]) })
    }
    let ring = Ring(spaces: 1)
    #expect(kinds(ring, [walk([1, 2, 3, 0])]) == [])
    #expect(kinds(ring, [walk([2, 3, 1, 0])]) == [])
    // Two rings, one with a tail, and one that leaves a key out.
    for broken: [Int64] in [[1, 0, 3, 2], [1, 2, 1, 0], [2, 2, 3, 0]] {
      #expect(kinds(ring, [walk(broken)]) == [.invariant])
    }
    // A reader of only a part proves nothing.
    #expect(kinds(ring, [walk([1, 0, 3])]) == [])
  }

  @Test("Readers agree on which write came first")
  func longFork() {
    func read(_ seen: Set<Int>) -> TransactionRecord {
      let keys = [Key(0, 0), Key(0, 1), Key(1, 0), Key(1, 1)]
      return reader(keys.enumerated().map { ($0.element, seen.contains($0.offset) ? [1] : nil) })
    }
    let fork = LongFork(spaces: 2)
    #expect(kinds(fork, [read([]), read([0]), read([0, 2]), read([0, 1, 2])]) == [])
    #expect(kinds(fork, [read([0]), read([2])]) == [.longFork])
    #expect(kinds(fork, [read([0, 1, 2]), read([3])]) == [.longFork])
  }
}
