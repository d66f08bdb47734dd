// Conditions that programs build in loops: nested or long without an end that anyone planned.
//
// They are asked on threads with a stack of 512 KiB. What can be answered is; everything else is an
// error of the query, and never the end of the process.

import Dflat
import DflatTestSupport
import Platform
import Testing

@Suite("Conditions that are nested deeply")
struct NestedConditionTests {
  private typealias Item = Kit.Item
  private static let count: Int32 = 12

  private func store(_ workspace: TemporaryWorkspace) throws {
    try workspace.write([Item.self]) { txn in
      for number in 0..<Self.count {
        var builder = Kit.ItemBuilder(from: Item(name: "n", serial: UInt64(number)))
        builder.number = number
        builder.plainNumber = number
        builder.flag = number % 3 == 0
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(builder.build()))
      }
    }
  }

  /// `(… && a) || b` with the given number of levels.
  private static func alternating(_ levels: Int) -> Condition<Item> {
    var condition: Condition<Item> = Item.number == -1
    for level in 0..<Int32(levels) {
      condition = (condition && Item.number > level % 5) || Item.plainNumber == level % 9 + 2
      if level % 7 == 0 { condition = !condition }
    }
    return condition
  }

  /// The numbers of the objects that satisfy the same condition.
  private static func expected(_ levels: Int) -> [Int32] {
    (0..<count).filter { number in
      (0..<Int32(levels)).reduce(false) { truth, level in
        let next = (truth && number > level % 5) || number == level % 9 + 2
        return level % 7 == 0 ? !next : next
      }
    }
  }

  @Test(
    "&& in || in &&, and so on, is answered in every way", arguments: [3, 20, 40, 800, 5000])
  func alternation(levels: Int) throws {
    let expected = Self.expected(levels)
    #expect(!expected.isEmpty && expected.count < Self.count)
    try onSmallStack {
      let condition = Self.alternating(levels)
      for engine in TestEngine.all {
        try withTemporaryWorkspace(engine) { workspace in
          try store(workspace)
          let dflat = workspace.dflat
          let query = dflat.query(Item.self).where(condition)
          #expect(dflat.fetch(for: Item.self).where(condition).map(\.number) == expected)
          #expect(try query.fetch().map(\.number) == expected)
          #expect(try query.count() == expected.count)
          #expect(try query.orderBy(Item.number.descending).first()?.number == expected.last)
          let part = query.where(Item.number < 6)
          #expect(try part.select(Item.number.required).count == expected.count { $0 < 6 })
          #expect(try query.explain().rowByRow.map { $0.utf8.count > levels } != false)
          let first = try query.page(size: 1)
          if let cursor = first.next {
            let rest = try query.page(size: 100, after: cursor)
            #expect(rest.objects.count == expected.count - 1)
          }
          let filter = ObjectFilter(condition)
          #expect(
            dflat.fetch(for: Item.self).all().filter(filter.matches).map(\.number) == expected)
          #expect(workspace.errors.takeAll().isEmpty, "\(engine.testDescription)")
        }
      }
    }
  }

  @Test(
    "Objects are changed and deleted by a deep condition, and followed", arguments: TestEngine.all)
  func changes(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace)
      let expected = Self.expected(800)
      try onSmallStack { [dflat = workspace.dflat] in
        let condition = Self.alternating(800)
        let seen = Log<[UInt64]>()
        let result = dflat.fetch(for: Item.self).where(condition)
        let subscription = dflat.subscribe(fetchedResult: result) { seen.add($0.map(\.serial)) }
        try dflat.write(Item.self) { txn in
          let found = try txn.update(where: condition) { $0.word = "found" }
          #expect(found.updated == expected.count)
        }
        try dflat.write(Item.self) { txn in
          let gone = try txn.delete(where: condition && Item.flag == false)
          #expect(gone.deleted == expected.count { $0 % 3 != 0 })
        }
        subscription.cancel()
        #expect(
          seen.events == [
            expected.map { UInt64($0) }, expected.filter { $0 % 3 == 0 }.map { UInt64($0) },
          ])
        #expect(
          dflat.fetch(for: Item.self).where(Item.word == "found").map(\.number)
            == expected.filter { $0 % 3 == 0 })
      }
    }
  }

  @Test(
    "So are those of a type with a full-text index, with searches and without",
    arguments: TestEngine.all, [false, true])
  func searches(engine: TestEngine, hasSearch: Bool) throws {
    typealias Poem = Verse.Poem
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Poem.self]) { txn in
        for id in 0..<Self.count {
          try txn.submit(
            Verse.PoemChangeRequest.creationRequest(Poem(id: id, title: "poem \(id % 3)")))
        }
      }
      for levels in [800, 5000] as [Int32] {
        let expected = (0..<Self.count).filter { id in
          (0..<levels).reduce(false) { truth, level in
            let isFound = hasSearch && level % 100 == 0 ? id % 3 == 1 : id == level % 9 + 2
            return (truth && id > level % 5) || isFound
          }
        }
        try onSmallStack { [dflat = workspace.dflat] in
          var condition: Condition<Poem> = Poem.id == -1
          for level in 0..<levels {
            let both = condition && Poem.id > level % 5
            let isSearch = hasSearch && level % 100 == 0
            condition = isSearch ? both || Poem.search("1") : both || Poem.id == level % 9 + 2
          }
          #expect(dflat.fetch(for: Poem.self).where(condition).map(\.id) == expected)
          #expect(try dflat.query(Poem.self).where(condition).count() == expected.count)
          _ = try dflat.query(Poem.self).where(condition).explain()
        }
      }
      #expect(workspace.errors.takeAll().isEmpty)
    }
  }

  @Test("Negations of negations are answered", arguments: TestEngine.all)
  func negations(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace)
      try onSmallStack { [dflat = workspace.dflat] in
        var condition: Condition<Item> = Item.flag == true
        for _ in 0..<5000 { condition = !condition }
        #expect(dflat.fetch(for: Item.self).where(condition).map(\.number) == [0, 3, 6, 9])
        #expect(dflat.fetch(for: Item.self).where(!condition).count == 8)
      }
    }
  }

  /// Ways to nest an expression without end; each begins with the numbers of objects.
  private static let nestings: [(name: String, make: @Sendable (Int) -> Condition<Item>)] = [
    (
      "sum",
      { levels in
        var sum = Item.number + 0
        for _ in 0..<levels { sum = sum + 0 }
        return sum >= 0
      }
    ),
    (
      "magnitude",
      { levels in
        var value = abs(Item.number)
        for _ in 0..<levels { value = abs(value) }
        return value >= 0
      }
    ),
    (
      "equality",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels { condition = condition == true }
        return condition
      }
    ),
    (
      "difference",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels { condition = (condition != false) && Item.number >= -1 }
        return condition
      }
    ),
    (
      "isNotNull",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels { condition = condition.isNotNull }
        return condition
      }
    ),
    (
      "in",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels { condition = condition.in([true]) }
        return condition
      }
    ),
    (
      "call",
      { levels in
        let same = Function("same") { (value: Int32) in value }
        var value = same(Item.number)
        for _ in 0..<levels { value = same(value) }
        return value >= 0
      }
    ),
    (
      "any",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels {
          let inner = condition
          condition = Item.tags.any { $0 == "" && inner } || inner.isNotNull
        }
        return condition
      }
    ),
    (
      "both sides",
      { levels in
        var sum = Item.number - Item.number
        for _ in 0..<levels { sum = sum + sum }
        return sum >= 0
      }
    ),
    (
      "both conditions",
      { levels in
        var condition: Condition<Item> = Item.number >= 0
        for _ in 0..<levels {
          condition = (condition && Item.number >= -1) || (condition && Item.number >= -2)
        }
        return condition
      }
    ),
  ]

  // The conditions are made once for all engines: that takes most of the time.
  @Test(
    "Every other way to nest is answered, or is an error of the query",
    arguments: nestings.map(\.name))
  func limits(name: String) throws {
    let make = try #require(Self.nestings.first { $0.name == name }).make
    // What is used twice on each level doubles.
    let all = name.hasPrefix("both") ? [1, 8, 60, 5000] : [1, 10, 30, 60, 5000]
    try onSmallStack {
      let conditions = all.map { ($0, make($0)) }
      for engine in TestEngine.all {
        try withTemporaryWorkspace(engine) { workspace in
          try store(workspace)
          for (levels, condition) in conditions {
            try checkLimits(workspace, condition, levels: levels, "\(engine.testDescription)")
          }
        }
      }
    }
  }

  private func checkLimits(
    _ workspace: TemporaryWorkspace, _ condition: Condition<Item>, levels: Int, _ engine: Comment
  ) throws {
    let (dflat, errors) = (workspace.dflat, workspace.errors)
    let query = dflat.query(Item.self).where(Item.number < 100).where(condition)
    do {
      #expect(try query.count() == Int(Self.count), "\(levels) levels, \(engine)")
      #expect(try query.fetch().count == Int(Self.count), engine)
      _ = try query.explain()
      #expect(dflat.fetch(for: Item.self).where(condition).count == Int(Self.count), engine)
      #expect(levels < 5000, engine)
      #expect(errors.takeAll().isEmpty, engine)
      return
    } catch let error as QueryError where error.cause == .tooComplex {
      #expect(levels >= 20, "\(error), \(engine)")
    }
    func refuses(_ body: () throws -> Void) {
      let error = #expect(throws: QueryError.self, engine, performing: body)
      #expect(error?.cause == .tooComplex, engine)
    }
    refuses { _ = try query.fetch() }
    refuses { _ = try query.first() }
    refuses { _ = try query.explain() }
    refuses { _ = try query.select(Item.number.required) }
    refuses { _ = try query.max(Item.number) }
    refuses { _ = try dflat.query(Item.self).where(!condition || Item.number == 3).fetch() }
    #expect(dflat.fetch(for: Item.self).where(condition).isEmpty, engine)
    #expect(errors.takeAll().contains { ($0 as? QueryError)?.cause == .tooComplex }, engine)
    let before = dflat.fetch(for: Item.self).all()
    refuses { try dflat.write(Item.self) { _ = try $0.delete(where: condition) } }
    refuses {
      try dflat.write(Item.self) { _ = try $0.update(where: condition) { $0.word = "x" } }
    }
    #expect(dflat.fetch(for: Item.self).all() == before, engine)
  }

  @Test("Orders and values that are nested too deeply are refused", arguments: TestEngine.all)
  func values(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace)
      try onSmallStack { [dflat = workspace.dflat] in
        var sum = Item.number + 0
        for _ in 0..<5000 { sum = sum + 0 }
        func refuses(_ body: () throws -> Void) {
          let error = #expect(throws: QueryError.self, performing: body)
          #expect(error?.cause == .tooComplex)
        }
        let query = dflat.query(Item.self)
        refuses { _ = try query.orderBy(sum.ascending).fetch() }
        refuses { _ = try query.select(sum.required) }
        refuses { _ = try query.sum(sum) }
        refuses { _ = try query.group(by: sum, .count) }
      }
    }
  }

  @Test("A condition that is built term by term costs what its terms cost")
  func building() {
    func cost(_ terms: Int32, _ build: (Int32) -> Condition<Item>) -> Double {
      (0..<3).map { _ in
        let start = processorTime()
        withExtendedLifetime(build(terms)) {}
        return Double(processorTime() - start)
      }.min() ?? 0
    }
    let ways: [(String, (Int32) -> Condition<Item>)] = [
      ("c || x", { (0..<$0).reduce(.never) { $0 || Item.number == $1 } }),
      ("c && x", { (0..<$0).reduce(.always) { $0 && Item.number != $1 } }),
      ("x || c", { (0..<$0).reduce(.never) { Item.number == $1 || $0 } }),
      (
        "(c && x) || y",
        {
          (0..<$0).reduce(.always) { ($0 && Item.number != $1) || Item.number == $1 }
        }
      ),
    ]
    for (name, build) in ways {
      // Sixteen times the cost if it were quadratic.
      let ratio = cost(32_000, build) / cost(8000, build)
      #expect(ratio < 8, "\(name): four times the terms cost \(ratio) times as much")
    }
  }
}
