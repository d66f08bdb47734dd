// The edges of texts, numbers and vectors in conditions, and how they are planned and explained.

import Dflat
import DflatTestSupport
import Testing

@Suite("Operators of conditions")
struct OperatorTests {
  private typealias Item = Kit.Item

  /// Objects, each made from the last one.
  private func store(
    _ workspace: TemporaryWorkspace, _ changes: [(inout Kit.ItemBuilder) -> Void]
  ) throws {
    try workspace.write([Item.self]) { txn in
      for (number, change) in changes.enumerated() {
        var builder = Kit.ItemBuilder(from: Item(name: "n", serial: UInt64(number)))
        change(&builder)
        _ = try txn.insert(Kit.ItemChangeRequest.creationRequest(builder.build()))
      }
    }
  }

  private func found(
    _ workspace: TemporaryWorkspace, _ condition: Condition<Item>
  ) -> [UInt64] {
    workspace.dflat.fetch(for: Item.self).where(condition).map(\.serial)
  }

  @Test("Texts are tested by their bytes", arguments: TestEngine.inEveryIndexState)
  func texts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let titles: [String?] = [
        "", "ab", "abc", "aB", "a\0b", "é", "e\u{301}", "a\u{7F}", "a\u{7F}x", "\u{BF}", "\u{BF}x",
        "\u{10FFFF}", "\u{10FFFF}\u{10FFFF}z", "\u{D7FF}x", "日本語", nil, "100%", "a_b", "İ",
      ]
      try store(workspace, titles.map { title in { $0.title = title } })
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Item._schema, using: &random)
      func numbers(_ titles: String?...) -> [UInt64] {
        titles.map { title in
          UInt64(
            allTitles.firstIndex { $0.map { Array($0.utf8) } == title.map { Array($0.utf8) } }!)
        }.sorted()
      }
      let allTitles = titles
      let known = (0..<UInt64(titles.count)).filter { titles[Int($0)] != nil }
      #expect(found(workspace, Item.title.hasPrefix("")) == known)
      #expect(found(workspace, Item.title.hasSuffix("")) == known)
      #expect(found(workspace, Item.title.contains("")) == known)
      #expect(found(workspace, !Item.title.hasPrefix("")) == [])
      #expect(found(workspace, Item.title.hasPrefix("ab")) == numbers("ab", "abc"))
      #expect(found(workspace, Item.title.hasPrefix("a\0")) == numbers("a\0b"))
      #expect(found(workspace, Item.title.hasPrefix("e")) == numbers("e\u{301}"))
      #expect(found(workspace, Item.title.hasPrefix("a\u{7F}")) == numbers("a\u{7F}", "a\u{7F}x"))
      #expect(found(workspace, Item.title.hasPrefix("\u{BF}")) == numbers("\u{BF}", "\u{BF}x"))
      #expect(
        found(workspace, Item.title.hasPrefix("\u{10FFFF}"))
          == numbers("\u{10FFFF}", "\u{10FFFF}\u{10FFFF}z"))
      #expect(
        found(workspace, Item.title.hasPrefix("\u{10FFFF}\u{10FFFF}"))
          == numbers("\u{10FFFF}\u{10FFFF}z"))
      #expect(found(workspace, Item.title.hasPrefix("\u{D7FF}")) == numbers("\u{D7FF}x"))
      #expect(found(workspace, Item.title.hasSuffix("b")) == numbers("ab", "a\0b", "a_b"))
      #expect(found(workspace, Item.title.contains("\0")) == numbers("a\0b"))
      #expect(found(workspace, Item.title.contains("本")) == numbers("日本語"))
      #expect(found(workspace, Item.title.like("___")).count == 6)
      #expect(found(workspace, Item.title.like("_本%_")) == numbers("日本語"))
      #expect(found(workspace, Item.title.like("%__本%")) == [])
      #expect(found(workspace, Item.title.like("a!_b", escape: "!")) == numbers("a_b"))
      #expect(found(workspace, Item.title.like("%!%", escape: "!")) == numbers("100%"))
      #expect(found(workspace, Item.title.like("%!%_", escape: "!")) == [])
      #expect(found(workspace, Item.title.like("")) == numbers(""))
      #expect(found(workspace, Item.title.caseInsensitive == "AB") == numbers("ab", "aB"))
      #expect(found(workspace, Item.title.caseInsensitive == "É") == numbers("é"))
      #expect(found(workspace, Item.title.caseInsensitive.hasPrefix("I")) == numbers("İ"))
      #expect(found(workspace, Item.title.caseInsensitive.in(["ABC"])) == numbers("abc"))
      #expect(found(workspace, Item.title.caseInsensitive.like("A_")).count == 3)
      #expect(found(workspace, Item.title.caseInsensitive == Item.title) == known)
    }
  }

  @Test("A range is compared by its ends", arguments: TestEngine.inEveryIndexState)
  func ranges(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace, (0..<6).map { number in { $0.longNumber = number } })
      var random = SeededGenerator(seed: 1)
      try workspace.disturbIndexes(of: Item._schema, using: &random)
      let number = Item.longNumber
      #expect(found(workspace, number.in(2...)) == [2, 3, 4, 5])
      #expect(found(workspace, number.in(..<2)) == [0, 1])
      #expect(found(workspace, number.in(...2)) == [0, 1, 2])
      #expect(found(workspace, number.in(1..<3)) == [1, 2])
      #expect(found(workspace, number.in(3..<3)).isEmpty)
      #expect(found(workspace, number.in(.min ... .max)) == [0, 1, 2, 3, 4, 5])
      #expect(found(workspace, number.notIn(1...4)) == [0, 5])
      #expect(found(workspace, number.notIn(1..<4)) == [0, 4, 5])
      #expect(found(workspace, number.notIn(2...)) == [0, 1])
      // No title is known.
      #expect(found(workspace, Item.title.in("a"...)).isEmpty)
      #expect(found(workspace, Item.title.notIn("a"...)).isEmpty)
      #expect(throws: QueryError.self) { try workspace.dflat.query(Item.self).page(size: 0) }
    }
  }

  @Test("Negative limits and offsets are errors, everywhere the same", arguments: TestEngine.all)
  func negativeCounts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace, (0..<3).map { number in { $0.longNumber = number } })
      let query = workspace.dflat.query(Item.self)
      func refuses(_ words: String, _ body: (ObjectQuery<Item>) throws -> Void) {
        for query in words.contains("limit") ? [query.limit(-2)] : [query.offset(-2)] {
          let error = #expect(throws: QueryError.self) { try body(query) }
          #expect(
            error?.description
              == "negativeCount: \(words) of -2 was given for objects of Item; give 0 or more, or leave it out"
          )
        }
      }
      for words in ["a limit", "an offset"] {
        refuses(words) { _ = try $0.fetch() }
        refuses(words) { _ = try $0.first() }
        refuses(words) { _ = try $0.count() }
        refuses(words) { _ = try $0.exists() }
        refuses(words) { _ = try $0.sum(Item.longNumber) }
        refuses(words) { _ = try $0.select(Item.longNumber) }
        refuses(words) { _ = try $0.group(by: Item.longNumber, .count) }
        refuses(words) { _ = try $0.page(size: 1) }
        refuses(words) { _ = try $0.explain() }
        refuses(words) { query in
          _ = try workspace.dflat.write(Item.self) { try $0.delete(query) }
        }
        refuses(words) { query in
          _ = try workspace.dflat.write(Item.self) { try $0.update(query) { $0.flag = true } }
        }
      }
      #expect(try query.limit(0).fetch().isEmpty && query.offset(0).count() == 3)
      // What cannot throw tells the error hook.
      #expect(workspace.dflat.fetch(for: Item.self).all(limit: .limit(-1)).isEmpty)
      #expect(workspace.takeErrors().count == 1)
    }
  }

  @Test(
    "A condition built step by step is answered like one written at once", arguments: TestEngine.all
  )
  func steps(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(workspace, (0..<4).map { number in { $0.longNumber = number } })
      let number = Item.longNumber
      var all: Condition<Item> = .always
      #expect(found(workspace, all) == [0, 1, 2, 3] && found(workspace, !all).isEmpty)
      all = all && number > 0
      all = number < 3 && all
      #expect(found(workspace, all) == [1, 2])
      var any: Condition<Item> = .never
      #expect(found(workspace, any).isEmpty && found(workspace, !any) == [0, 1, 2, 3])
      for wanted in [0, 3] as [Int64] { any = any || number == wanted }
      #expect(found(workspace, any) == [0, 3])
      let items = workspace.dflat.query(Item.self)
      let (built, written) = try (
        items.where(all).explain(), items.where(number < 3 && number > 0).explain()
      )
      #expect(built.indexes == written.indexes && built.rowByRow == written.rowByRow)
    }
  }

  @Test("A text of any length is folded", arguments: TestEngine.all)
  func longTexts(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let long = String(repeating: "ÀB", count: 50_000)
      try store(workspace, [{ $0.title = long }, { $0.tags = [long, long, "z"] }])
      #expect(found(workspace, Item.title.caseInsensitive == long.lowercased()) == [0])
      #expect(found(workspace, Item.title.caseInsensitive.hasSuffix("àb")) == [0])
      #expect(found(workspace, Item.tags.any { $0.caseInsensitive == "Z" }) == [1])
    }
  }

  @Test("Results are exact or unknown", arguments: TestEngine.all)
  func numbers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        workspace,
        [
          {
            $0.longNumber = .min
            $0.plainLong = -1
            $0.tiny = .min
            $0.big = .max
            $0.number = .min
            $0.real = -0.0
          }
        ])
      func holds(_ condition: Condition<Item>, _ location: SourceLocation = #_sourceLocation) {
        #expect(found(workspace, condition) == [0], sourceLocation: location)
      }
      holds((Item.longNumber / -1).isNull)
      holds((Item.longNumber / Item.plainLong).isNull)
      holds(Item.longNumber / 1 == .min)
      holds(Item.longNumber % -1 == 0)
      holds((Item.longNumber * 2).isNull)
      holds((Item.longNumber / 0).isNull)
      holds((-Item.longNumber).isNull)
      holds(abs(Item.longNumber).isNull)
      holds(abs(Item.longNumber + 1) == .max)
      holds((-Item.tiny).isNull)
      holds(-(Item.tiny + 1) == 127)
      holds((Item.tiny * 2).isNull)
      holds(Item.tiny / 100 == -1)
      holds((Item.big * 2).isNull)
      holds(Item.big / 2 == .max / 2)
      holds((1 / Item.real).isNull)
      holds((Item.real / Item.real).isNull)
      holds(Item.real == 0)
      holds(-Item.real * 2 == 0)
      let great = Item.plainReal + 1e300
      holds(1e300 * great == .infinity)
      holds(Item.longNumber < Item.big)
      holds(Item.big > Item.plainLong)
      holds(Item.plainLong != Item.big)
      holds(Item.number > Item.longNumber)
      holds(Item.tiny < Item.big)
      holds(Item.plainLong.between(-1, -1))
      holds(Item.plainLong.between(-5...0))
      holds(!Item.plainLong.between(0, 5))
      holds(!Item.plainLong.between(5, -5))
      holds(!Item.real.between(.nan, -1))
      holds(!Item.maybeNumber.between(1, 2).isNotNull)
    }
  }

  @Test(
    "An absent vector is empty; one behind a missing reference is unknown",
    arguments: TestEngine.all)
  func vectors(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.write([Press.Article.self]) { _ in }
      for (index, tags) in [[], ["a"], ["a", "b"]].enumerated() {
        try workspace.write([Post.self]) { txn in
          _ = try txn.insert(
            Blog.PostChangeRequest.creationRequest(
              Post(site: "s", number: Int32(index), tags: tags)))
        }
      }
      func found(_ condition: Condition<Post>) -> [Int32] {
        workspace.dflat.fetch(for: Post.self).where(condition).map(\.number)
      }
      #expect(found(Post.tags.count == 0) == [0])
      #expect(found(Post.tags.contains("a")) == [1, 2])
      #expect(found(!Post.tags.contains("a")) == [0])
      #expect(found(Post.tags.any { $0 == "b" }) == [2])
      #expect(found(Post.tags.all { $0 == "a" }) == [0, 1])
      #expect(found(Post.tags.any { $0 == Post.site }) == [])
      #expect(found(Post.tags.any { _ in Post.number > 1 }) == [2])
      // An element outside of its condition is unknown.
      var leaked: Field<String, Post>?
      _ = Post.tags.any { element in
        leaked = element
        return element == "a"
      }
      let element = try #require(leaked)
      #expect(found(element == "a") == [] && found(element.isNull) == [0, 1, 2])
      let order = [Post.tags.count.descending]
      #expect(
        workspace.dflat.fetch(for: Post.self).all(orderBy: order).map(\.number) == [2, 1, 0])
    }
  }

  @Test("A live result follows the elements of a vector", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 2)])
      let log = Log<[Int32]>()
      let subscription = workspace.watch(
        workspace.posts.where(
          Post.tags.any { $0.hasPrefix("x") }, orderBy: [Post.tags.count.descending]), log)
      try workspace.change(2) { $0.tags = ["xy"] }
      #expect(log.events == [[2]])
      try workspace.change(1) { $0.tags = ["a", "x"] }
      #expect(log.events.last == [1, 2])
      try workspace.change(2) { $0.tags = ["b", "c", "xz"] }
      #expect(log.events.last == [2, 1])
      try workspace.change(1) { $0.tags = [] }
      #expect(log.events.last == [2])
      subscription.cancel()
    }
  }
}
