// The invariants of workloads, on hand-written states: a valid state passes, each violation is
// reported.

import Testing

@testable import DflatVerification

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

  @Test("A family is what the operations in its list have made of it")
  func families() {
    let families = Families(spaces: 2)
    func look(_ operations: [Int64], _ found: CellValue) -> TransactionRecord {
      let record = reader([(Key(1, 3), operations)])
      record.operations.append(.observe(family: 3, found))
      return record
    }
    #expect(kinds(families, [look([], [0])]) == [])
    #expect(kinds(families, [look([], [1, 24])]) == [.invariant])
    // The first operation that adds an elder, and a deletion of that one.
    let operations = (0..<1000 as Range<Int64>).map { $0 }
    let add = operations.first { "\(FamilyOperation($0, of: 3))" == "addElder(24)" } ?? -1
    let delete = operations.first { "\(FamilyOperation($0, of: 3))" == "deleteElder(24)" } ?? -1
    #expect(kinds(families, [look([add], [1, 24]), look([add, delete], [0])]) == [])
    #expect(kinds(families, [look([add, delete], [1, 24])]) == [.invariant])
    // Its own operations count.
    let writer = reader([(Key(1, 3), [])])
    writer.operations += [.append(Key(1, 3), add), .observe(family: 3, [1, 24])]
    #expect(kinds(families, [writer]) == [])
    writer.operations.append(.observe(family: 3, [0]))
    #expect(kinds(families, [writer]) == [.invariant])
  }

  @Test("Deletions follow the rules: cascades with cycles, references that are set to nil, denial")
  func rules() {
    typealias Ward = FamilyState.Ward
    var state = FamilyState()
    for id in 0..<3 as Range<Int64> { state.apply(.addElder(id)) }
    state.apply(.putWard(10, Ward(home: 0, creditor: 0)))
    state.apply(.putWard(11, Ward(friend: 0, parent: 10, teachers: [0, 1])))
    state.apply(.putWard(10, Ward(home: 0, creditor: 0, parent: 11)))
    state.apply(.putWard(12, Ward(friend: 0, parent: 99, teachers: [0, 1, 0, 9])))
    state.apply(.putWard(13, Ward(creditor: 1, parent: 12)))
    #expect(state.wards[12] == Ward(friend: 0, teachers: [0, 1, 0]))
    let before = state
    state.apply(.deleteElder(1))
    #expect(state == before)
    // Ward 10 goes with elder 0 and so denies nothing; ward 11 goes with ward 10.
    state.apply(.deleteElder(0))
    #expect(state.elders == [1, 2])
    #expect(state.wards == [12: Ward(teachers: [1]), 13: Ward(creditor: 1, parent: 12)])
    #expect(state.encoded == [2, 1, 2, 12, -1, -1, -1, -1, 1, 1, 13, -1, -1, 1, 12, 0])
    state.apply(.deleteWard(12))
    #expect(state.wards.isEmpty)
  }
}
