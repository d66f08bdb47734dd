// What membership costs: in a list of values, or of keys, each object is found by a search.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Knot = Ring.Knot
private typealias Label = Guild.Label
private typealias Rope = Ring.Rope
private typealias Story = Guild.Story

@Suite("The cost of membership")
struct MembershipCostTests {
  /// What is done for some numbers of objects, and as many values.
  private enum Work: CaseIterable {
    case key, index, otherValues, equalities, inequalities, order, keys, relation, including
    case update, deletion

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
      case .including:
        // One object refers to all of them.
        let labels = try dflat.query(Label.self).including(Label.stories).fetch()
        #expect(labels.count == ids.count && labels.allSatisfy { $0.related.count == 1 })
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
    var ratios: [Work: Double] = [:]
    // The least of several, since other threads may share the processor's caches.
    for attempt in 0..<3 {
      let works = Work.allCases.filter { attempt == 0 || ratios[$0] ?? 0 >= 10 }
      if works.isEmpty { break }
      let costs = try sizes.map { try self.costs(of: works, engine, size: $0) }
      for work in works {
        let (small, large) = (costs[0][work] ?? 0, costs[1][work] ?? 0)
        // What takes no time tells nothing.
        ratios[work] = min(ratios[work] ?? .infinity, large < 20e6 ? 0 : large / small)
      }
    }
    for (work, ratio) in ratios {
      // Four times as much work; sixteen times would be each object with each value.
      #expect(ratio < 10, "\(work): \(ratio) times the cost")
    }
  }

  private func costs(
    of works: [Work], _ engine: TestEngine, size: Int64
  ) throws -> [Work: Double] {
    var costs: [Work: Double] = [:]
    try withTemporaryWorkspace(engine) { workspace in
      let ids = Array(0..<size)
      try workspace.dflat.write(Rope.self, Knot.self) { txn in
        try txn.insert(contentsOf: ids.map { Rope(id: $0) })
        try txn.insert(contentsOf: ids.map { Knot(id: $0, rope: $0) })
      }
      try workspace.dflat.write(Label.self, Story.self) { txn in
        try txn.insert(contentsOf: ids.map { Label(name: "\($0)") })
        try txn.insert(Story(id: 1, labels: ids.map { "\($0)" }))
      }
      for work in works {
        let start = processorTime()
        try work.run(workspace.dflat, ids)
        costs[work] = Double(processorTime() - start)
      }
    }
    return costs
  }
}
