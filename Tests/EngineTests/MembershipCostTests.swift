// What membership costs: in a list of values, or of keys, each object is found by a search.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Knot = Ring.Knot
private typealias Rope = Ring.Rope

@Suite("The cost of membership")
struct MembershipCostTests {
  /// What is done for some numbers of objects, and as many values.
  private enum Work: CaseIterable {
    case key, index, otherValues, equalities, inequalities, order, keys, relation, update, deletion

    func run(_ dflat: any Workspace, _ ids: [Int64]) throws {
      let knots = dflat.query(Knot.self)
      switch self {
      case .key:
        #expect(try knots.where(Knot.id.in(ids)).count() == ids.count)
        #expect(dflat.fetch(for: Knot.self).where(Knot.id.in(ids)).count == ids.count)
      case .index: #expect(try knots.where(Knot.rope.in(ids)).count() == ids.count)
      case .otherValues:
        let others = ids.map { $0 + 10_000_000 }
        #expect(try knots.where(Knot.id.notIn(others)).count() == ids.count)
        #expect(try knots.where(Knot.id.in(others)).count() == 0)
      case .equalities:
        let all = ids.reduce(.never) { $0 || Knot.rope == $1 } as Condition<Knot>
        #expect(try knots.where(all).count() == ids.count)
      case .inequalities:
        let none = ids.reduce(.always) { $0 && Knot.rope != $1 } as Condition<Knot>
        #expect(try knots.where(none).count() == 0)
      case .order:
        let query = knots.where(Knot.id.in(ids)).orderBy(Knot.id.descending)
        #expect(try query.limit(ids.count).fetch().first?.id == ids.last)
      case .keys: #expect(try knots.missingKeys(of: ids).isEmpty)
      case .relation:
        #expect(try knots.where(Knot.rope.related.id >= 0).count() == ids.count)
        #expect(try dflat.query(Rope.self).where(Rope.knots.exists).count() == ids.count)
      case .update:
        try dflat.write(Knot.self) { txn in
          let result = try txn.update(where: Knot.id.in(ids)) { _ in }
          #expect(result.unchanged == ids.count)
        }
      case .deletion:
        try dflat.write(Rope.self, Knot.self) { txn in
          let result = try txn.delete(where: Knot.rope.in(ids))
          #expect(result.deleted == ids.count)
        }
      }
    }
  }

  @Test("Twice the objects and values cost about twice as much", arguments: TestEngine.all)
  func growth(engine: TestEngine) throws {
    // Both are more than an engine asks its indexes for at once, which is another way to answer.
    let sizes: [Int64] = [1500, 6000]
    var costs: [[Double]] = []
    for size in sizes {
      try withTemporaryWorkspace(engine) { workspace in
        let ids = Array(0..<size)
        try workspace.dflat.write(Rope.self, Knot.self) { txn in
          try txn.insert(contentsOf: ids.map { Rope(id: $0) })
          try txn.insert(contentsOf: ids.map { Knot(id: $0, rope: $0) })
        }
        costs.append(
          try Work.allCases.map { work in
            // The least of several, since other threads may share the processor's caches.
            let runs = work == .deletion ? 1 : 3
            return try (0..<runs).map { _ in
              let start = processorTime()
              try work.run(workspace.dflat, ids)
              return Double(processorTime() - start)
            }.min() ?? 0
          })
      }
    }
    for (place, work) in Work.allCases.enumerated() {
      // Four times as much work; sixteen times would be each object with each value. What takes no
      // time tells nothing.
      let (small, large) = (costs[0][place], costs[1][place])
      #expect(large < 20e6 || large / small < 10, "\(work): \(large / small) times the cost")
    }
  }
}
