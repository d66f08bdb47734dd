// NaN is unknown and infinities are numbers, in every way to ask.

import Dflat
import DflatTestSupport
import Platform
import Testing

@Suite("NaN and infinity")
struct UnknownNumberTests {
  private typealias Item = Kit.Item
  private static let numbers: [Double?] = [
    1, 2, -1, 0, -0.0, .nan, .infinity, -.infinity, nil, 1e308, -1e308, 1,
  ]

  private static func item(_ place: Int, _ number: Double?) -> Item {
    var builder = Kit.ItemBuilder(from: Item(name: "n", serial: UInt64(place)))
    builder.maybeReal = number
    builder.plainReal = number ?? .nan
    builder.single = number.map { Float($0) } ?? .nan
    return builder.build()
  }

  private func store(_ workspace: TemporaryWorkspace, _ numbers: [Double?]) throws {
    try workspace.dflat.write(Item.self) { txn in
      for (place, number) in numbers.enumerated() { try txn.insert(Self.item(place, number)) }
    }
  }

  /// The rule of the manual: a number is known unless it is absent or NaN.
  private static func known(_ number: Double?) -> Double? {
    number.flatMap { $0.isNaN ? nil : $0 }
  }

  @Test("A list with NaN is a list with an unknown value", arguments: TestEngine.inEveryIndexState)
  func lists(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace, Self.numbers)
      var random = SeededGenerator(seed: 3)
      try workspace.disturbIndexes(of: Item._schema, using: &random)
      let lists: [[Double]] = [
        [], [.nan], [.nan, 1], [1, 2], [.nan, .infinity, -0.0], [1, .nan, 1],
      ]
      func check(
        _ field: Field<Double, Item>, _ value: (Double?) -> Double?
      ) {
        for list in lists {
          let isIn: [Bool?] = Self.numbers.map { number in
            guard let number = value(number) else { return nil }
            if list.contains(number) { return true }
            return list.contains { $0.isNaN } ? nil : false
          }
          func places(_ wanted: Bool?) -> [UInt64] {
            isIn.indices.filter { isIn[$0] == wanted }.map { UInt64($0) }
          }
          func found(_ condition: Condition<Item>) -> [UInt64] {
            let found = workspace.dflat.fetch(for: Item.self).where(condition).map(\.serial)
            let filter = ObjectFilter(condition)
            let all = workspace.dflat.fetch(for: Item.self).all()
            #expect(all.filter(filter.matches).map(\.serial) == found, "\(list)")
            return found
          }
          #expect(found(field.in(list)) == places(true), "\(list)")
          #expect(found(field.notIn(list)) == places(false), "\(list)")
          #expect(found(!field.in(list)) == places(false), "\(list)")
          #expect(found(!field.notIn(list)) == places(true), "\(list)")
          #expect(found(field.in(list).isNull) == places(nil), "\(list)")
          #expect(found(field.notIn(list).isNull) == places(nil), "\(list)")
          // The same as the equalities that it stands for.
          let equalities = list.reduce(.never) { $0 || field == $1 } as Condition<Item>
          #expect(found(equalities) == places(true), "\(list)")
          if !list.isEmpty { #expect(found(!equalities) == places(false), "\(list)") }
          // Many are evaluated as one list.
          let many =
            (list + (100..<140).map { Double($0) })
            .reduce(.never) { $0 || field == $1 } as Condition<Item>
          #expect(found(many) == places(true), "\(list)")
          #expect(found(!many) == places(false), "\(list)")
        }
      }
      check(Item.maybeReal) { Self.known($0) }
      check(Item.plainReal) { Self.known($0 ?? .nan) }
      #expect(workspace.dflat.fetch(for: Item.self).where(Item.maybeReal != .nan).isEmpty)
      #expect(
        workspace.dflat.fetch(for: Item.self).where(!Item.maybeReal.between(.nan, 1))
          .map(\.maybeReal) == [2, .infinity, 1e308])
    }
  }

  @Test("A live extreme that was −0 ends with its object", arguments: TestEngine.all)
  func negativeZero(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(workspace, [-0.0])
      let query = dflat.query(Item.self)
      #expect(try query.where(Item.maybeReal == 0).values(.min(Item.maybeReal)) == Double?(0))
      let latest = Mutex<[Double?]>([])
      let live = dflat.subscribe(query.computing(.max(Item.maybeReal))) { value in
        latest.withLock { $0.append(value) }
      }
      try dflat.write(Item.self) { try $0.delete(Item.self, where: .always) }
      #expect(latest.withLock { $0 } == [0, nil])
      live.cancel()
    }
  }

  @Test(
    "Sums, averages and extremes follow the rule, and live ones as well", arguments: TestEngine.all)
  func aggregates(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        let query = dflat.query(Item.self)
        let latest = Mutex<(Double?, Double?, Double?, Double?)>((nil, nil, nil, nil))
        let live = [
          dflat.subscribe(query.computing(.sum(Item.maybeReal))) { value in
            latest.withLock { $0.0 = value }
          },
          dflat.subscribe(query.computing(.average(Item.maybeReal))) { value in
            latest.withLock { $0.1 = value }
          },
          dflat.subscribe(query.computing(.min(Item.maybeReal))) { value in
            latest.withLock { $0.2 = value }
          },
          dflat.subscribe(query.computing(.max(Item.maybeReal))) { value in
            latest.withLock { $0.3 = value }
          },
        ]
        for round in 0..<(isLongRun ? 200 : 12) {
          let numbers = (0..<Int.random(in: 0...6, using: &random)).map { _ in
            random.pick(Self.numbers)
          }
          try dflat.write(Item.self) { txn in
            try txn.delete(Item.self, where: .always)
            for (place, number) in numbers.enumerated() {
              try txn.insert(Self.item(round * 10 + place, number))
            }
          }
          let terms = numbers.compactMap(Self.known)
          func expected(_ number: Double?) -> Double? { Self.known(number) }
          let sum = expected(terms.reduce(0, +))
          let average = terms.isEmpty ? nil : expected(terms.reduce(0, +) / Double(terms.count))
          let asked = try query.values(
            .sum(Item.maybeReal), .average(Item.maybeReal), .min(Item.maybeReal),
            .max(Item.maybeReal), .count(of: Item.maybeReal))
          #expect(asked.0 == sum, "\(numbers), seed \(random.seed)")
          #expect(asked.1 == average, "\(numbers), seed \(random.seed)")
          #expect(asked.2 == terms.min() && asked.3 == terms.max() && asked.4 == terms.count)
          let groups = try query.group(
            by: Item.name, .sum(Item.maybeReal), .average(Item.maybeReal))
          #expect(groups.map(\.1) == (numbers.isEmpty ? [] : [sum]))
          #expect(groups.map(\.2) == (numbers.isEmpty ? [] : [average]))
          let sums = try query.group(by: Item.maybeReal, .count)
          #expect(sums.count { $0.0 == nil } == (terms.count < numbers.count ? 1 : 0))
          // What is computed is unknown if it is NaN.
          let differences = Item.maybeReal - Item.maybeReal
          #expect(
            try query.where(differences == 0).count() == terms.count { $0.isFinite })
          #expect(
            try query.orderBy(Item.maybeReal.ascending).select(Item.maybeReal.optional)
              .map(Self.known)
              == Array(repeating: nil, count: numbers.count - terms.count) + terms.sorted())
          try dflat.write(Item.self) { _ in }
          let known = latest.withLock { $0 }
          if !numbers.isEmpty {
            #expect(
              known == (sum, average, terms.min(), terms.max()), "\(numbers), seed \(random.seed)")
          }
        }
        for subscription in live { subscription.cancel() }
      }
    }
  }
}
