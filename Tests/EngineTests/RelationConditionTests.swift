// Conditions on the objects that an object refers to, and on those that refer to it.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label

@Suite("Conditions across relations")
struct RelationConditionTests {
  /// Ada teaches Ben, whose own mentor "cid" is not stored. Story 4 has no writer, the writer of
  /// story 5 is not stored.
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Story.self, Label.self) { txn in
      try txn.insert(contentsOf: [
        Writer(
          handle: "ada", name: "Ada", age: 36, town: Guild.Town(name: "London", size: 9),
          isActive: true, languages: ["en", "fr"]),
        Writer(handle: "ben", name: "Ben", mentor: "ada", languages: []),
        Writer(handle: "dee", name: nil, age: 20, mentor: "cid", languages: ["de"]),
      ])
      try txn.insert(contentsOf: [
        Label(name: "red", rank: 1), Label(name: "blue", rank: 2), Label(name: "grey", rank: 3),
      ])
      try txn.insert(contentsOf: [
        Story(id: 1, title: "Ada", likes: 36, writer: "ada", labels: ["red", "blue"]),
        Story(id: 2, title: "two", likes: 5, writer: "ada", editor: "ben", labels: ["red"]),
        Story(id: 3, title: "three", likes: 7, writer: "ben", editor: "ada", parent: 1),
        Story(id: 4, title: "four", labels: ["none"]),
        Story(id: 5, title: "five", writer: "zoe", labels: ["blue", "none"], parent: 9),
        Story(id: 6, title: "six", writer: "dee", parent: 3),
      ])
    }
  }

  private func ids<C: QueryExpression<Bool, Guild.Story>>(
    _ dflat: any Workspace, _ condition: C
  ) throws -> [Int64] {
    let query = dflat.query(Story.self).where(condition)
    let fetched = try query.fetch().map(\.id)
    #expect(try query.count() == fetched.count)
    #expect(try query.keys() == fetched)
    #expect(dflat.fetch(for: Story.self).where(condition).map(\.id) == fetched)
    return fetched
  }

  private func handles<C: QueryExpression<Bool, Guild.Writer>>(
    _ dflat: any Workspace, _ condition: C
  ) throws -> [String] {
    try dflat.query(Writer.self).where(condition).fetch().map(\.handle)
  }

  @Test("A search looks at the texts of the other object", arguments: TestEngine.all)
  func searches(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.writer.name.search("ada")) == [1, 2])
      #expect(try ids(dflat, Story.writer.name.search("b*") || Story.likes == 36) == [1, 3])
      #expect(try ids(dflat, Story.writer.town.name.search("london") && Story.likes < 9) == [2])
      // A text that is absent has no words, so the opposite is true.
      #expect(try ids(dflat, !Story.writer.name.search("ada")) == [3, 4, 5, 6])
      #expect(try handles(dflat, Writer.mentor.name.search("ada")) == ["ben"])
      #expect(
        try handles(dflat, Writer.stories.where(Story.title.search("t*")).exists) == ["ada", "ben"])
      #expect(try ids(dflat, Story.labels.any { $0.name.search("blue") }) == [1, 5])
    }
  }

  @Test("The key stays a field", arguments: TestEngine.all)
  func key(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.writer == "ada") == [1, 2])
      #expect(try ids(dflat, Story.writer.in(["ben", "dee"]) || Story.writer == nil) == [3, 4, 6])
      #expect(try ids(dflat, Story.writer.isNull || Story.parent > 8) == [4, 5])
      let ordered = try dflat.query(Story.self).orderBy(Story.writer.descending).fetch()
      #expect(ordered.map(\.id) == [5, 6, 3, 1, 2, 4])
      #expect(try dflat.query(Story.self).distinct(Story.writer) == ["ada", "ben", "dee", "zoe"])
      #expect(try ids(dflat, Story.labels.contains("red")) == [1, 2])
    }
  }

  @Test("Fields of the other object, unknown without one", arguments: TestEngine.all)
  func targets(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.writer.name == "Ada") == [1, 2])
      #expect(try ids(dflat, Story.writer.name != "Ada") == [3])
      #expect(try ids(dflat, !(Story.writer.name == "Ada")) == [3])
      #expect(try ids(dflat, !(Story.writer.name == "Ada" && Story.likes == 5)) == [1, 3, 4, 5, 6])
      #expect(try ids(dflat, Story.writer.name == "Ada" || Story.id == 6) == [1, 2, 6])
      #expect(try ids(dflat, Story.writer.name.hasPrefix("A") && Story.likes > 5) == [1])
      #expect(try ids(dflat, Story.writer.age > 30) == [1, 2])
      #expect(try ids(dflat, Story.writer.isActive) == [1, 2])
      #expect(try ids(dflat, !Story.writer.isActive) == [3, 6])
      #expect(try ids(dflat, Story.writer.town.size + 1 == 10) == [1, 2])
      #expect(try ids(dflat, Story.writer.town == nil) == [3, 4, 5, 6])
      #expect(try ids(dflat, Story.writer.languages.contains("fr")) == [1, 2])
      #expect(try ids(dflat, !Story.writer.languages.contains("fr")) == [3, 6])
      #expect(try ids(dflat, Story.writer.languages.count == 0) == [3])
      #expect(try ids(dflat, Story.writer.related.isNull) == [4, 5])
      #expect(try ids(dflat, Story.writer.related.isNotNull) == [1, 2, 3, 6])
      #expect(try ids(dflat, Story.writer.isNotNull && Story.writer.related == nil) == [5])
      #expect(try ids(dflat, Story.writer.name.isNull) == [4, 5, 6])
      #expect(try ids(dflat, !(Story.writer.name.isNotNull)) == [4, 5, 6])
    }
  }

  @Test("A chain of relations, and the type itself", arguments: TestEngine.all)
  func chains(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.writer.mentor == "ada") == [3])
      #expect(try ids(dflat, Story.writer.mentor.name == "Ada") == [3])
      #expect(try ids(dflat, Story.writer.mentor.related.isNull) == [1, 2, 4, 5, 6])
      #expect(try ids(dflat, Story.parent.writer.name == "Ben") == [6])
      #expect(try ids(dflat, Story.parent.parent.title == "Ada") == [6])
      #expect(try handles(dflat, Writer.mentor.age == 36) == ["ben"])
    }
  }

  @Test("Both sides in one comparison, orders and values", arguments: TestEngine.all)
  func mixed(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.writer.name == Story.title) == [1])
      #expect(try ids(dflat, !(Story.writer.name == Story.title)) == [2, 3])
      #expect(try ids(dflat, Story.writer.age == Story.likes) == [1])
      #expect(try ids(dflat, Story.writer.name < Story.editor.name) == [2])
      #expect(try ids(dflat, Story.writer.mentor.name == Story.editor.name) == [3])
      let ordered = dflat.query(Story.self).orderBy(
        Story.writer.name.descending, Story.id.ascending)
      #expect(try ordered.fetch().map(\.id) == [3, 1, 2, 4, 5, 6])
      #expect(try ordered.limit(2).fetch().map(\.id) == [3, 1])
      let streamed = try ordered.stream(portion: 2).map(\.id)
      #expect(streamed == [3, 1, 2, 4, 5, 6])
      #expect(throws: QueryError.self) { try ordered.page(size: 2) }
      let names = try dflat.query(Story.self).select(Story.writer.name).map(\.self)
      #expect(names == ["Ada", "Ada", "Ben", nil, nil, nil])
      #expect(try dflat.query(Story.self).max(Story.writer.age) == 36)
      #expect(try dflat.query(Story.self).sum(Story.writer.age) == 92)
      let groups = try dflat.query(Story.self).distinct(Story.writer.name)
      #expect(groups == ["Ada", "Ben"])
      var paged: [Int64] = []
      var page = try dflat.query(Story.self).where(Story.writer.related.isNotNull).page(size: 3)
      paged += page.objects.map(\.id)
      page = try dflat.query(Story.self).where(Story.writer.related.isNotNull)
        .page(size: 3, after: page.next)
      paged += page.objects.map(\.id)
      #expect(paged == [1, 2, 3, 6])
    }
  }

  @Test("Elements of a vector of keys", arguments: TestEngine.all)
  func vectors(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try ids(dflat, Story.labels.any { $0.rank == 2 }) == [1, 5])
      #expect(try ids(dflat, Story.labels.any { $0.rank == 2 && $0 != "blue" }).isEmpty)
      #expect(try ids(dflat, Story.labels.all { $0.rank < 3 }) == [1, 2, 3, 6])
      #expect(try ids(dflat, !Story.labels.all { $0.rank < 2 }) == [1, 5])
      #expect(try ids(dflat, Story.labels.any { $0.related.isNull }) == [4, 5])
      #expect(try ids(dflat, Story.labels.count == 2) == [1, 5])
      #expect(try ids(dflat, Story.labels.any { $0.rank == Story.likes - 4 }) == [2])
      #expect(try ids(dflat, Story.parent.labels.any { $0.rank == 1 }) == [3])
    }
  }

  @Test("Objects that refer to an object", arguments: TestEngine.all)
  func inverse(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(try handles(dflat, Writer.stories.count > 1) == ["ada"])
      #expect(try handles(dflat, Writer.stories.count <= 1) == ["ben", "dee"])
      #expect(try handles(dflat, !(Writer.stories.count > 1)) == ["ben", "dee"])
      #expect(try handles(dflat, Writer.edited.isEmpty) == ["dee"])
      #expect(try handles(dflat, Writer.edited.exists) == ["ada", "ben"])
      #expect(try handles(dflat, Writer.stories.where(Story.likes > 6).exists) == ["ada", "ben"])
      #expect(
        try handles(dflat, Writer.stories.where(Story.editor.name == "Ben").exists) == ["ada"])
      #expect(try handles(dflat, Writer.stories.count == Writer.edited.count) == ["ben"])
      #expect(try handles(dflat, Writer.mentor.stories.count == 2) == ["ben"])
      #expect(try ids(dflat, Story.writer.stories.count == 2) == [1, 2])
      #expect(try ids(dflat, Story.writer.stories.isEmpty).isEmpty)
      #expect(try ids(dflat, Story.replies.exists) == [1, 3])
      let labels = dflat.query(Label.self)
      #expect(try labels.where(Label.stories.count == 2).fetch().map(\.name) == ["red", "blue"])
      #expect(
        try labels.orderBy(Label.stories.count.ascending, Label.name.descending).fetch()
          .map(\.name) == ["grey", "red", "blue"])
      let ada = try #require(dflat.find(Writer.self, "ada"))
      #expect(
        try dflat.query(ada.stories).orderBy(Story.id.descending).fetch().map(\.id) == [2, 1])
      #expect(try dflat.query(ada.pupils).fetch().map(\.handle) == ["ben"])
      let red = try #require(dflat.find(Label.self, "red"))
      #expect(try dflat.query(red.stories).count() == 2)
    }
  }

  @Test(
    "Transactions see their own changes of both sides, snapshots see none of them",
    arguments: TestEngine.all)
  func views(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let before = try dflat.read { context in
        let query = context.query(Story.self).where(Story.writer.name == "Ada")
        #expect(try query.count() == 2)
        try dflat.write(Story.self, Writer.self) { txn in
          let ada = try #require(try txn.find(Writer.self, "ada"))
          #expect(
            try txn.query(Story.self).where(Story.writer.name == "Ada").fetch().map(\.id)
              == [1, 2])
          try txn.update(ada) { $0.name = "Augusta" }
          #expect(try txn.query(Story.self).where(Story.writer.name == "Ada").count() == 0)
          #expect(try txn.query(Story.self).where(Story.writer.name == "Augusta").count() == 2)
          let changed = try txn.update(where: Story.writer.name == "Augusta") { $0.likes = 1 }
          #expect(changed.updated == 2)
          #expect(try txn.delete(where: Story.writer.name == "Ben").deleted == 1)
        }
        return try query.fetch().map(\.likes)
      }
      #expect(before == [36, 5])
      #expect(try ids(dflat, Story.likes == 1) == [1, 2])
    }
  }

  @Test("In a transaction both types must be named", arguments: TestEngine.all)
  func undeclared(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      #expect(throws: WorkspaceError.undeclaredType("Writer")) {
        try dflat.write(Story.self) { txn in
          try txn.query(Story.self).where(Story.writer.name == "Ada").count()
        }
      }
      #expect(throws: WorkspaceError.undeclaredType("Writer")) {
        try dflat.write(Story.self) { txn in
          try txn.query(Story.self).select(Story.writer.name)
        }
      }
      // Its deletions can reach stories, which does not make these readable.
      #expect(throws: WorkspaceError.undeclaredType("Story")) {
        try dflat.write(Writer.self) { txn in try txn.query(Story.self).count() }
      }
    }
  }

  @Test(
    "An index on the reference answers a condition on the other object",
    arguments: [TestEngine.sqlite, .memory])
  func plan(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let plan = try dflat.query(Story.self).where(Story.writer.name == "Ada").explain()
      #expect(plan.indexedFields == ["writer"])
      #expect(plan.rowByRow == nil)
      let byKey = try dflat.query(Writer.self).where(Writer.stories.count > 1).explain()
      #expect(byKey.indexedFields == ["handle"])
    }
  }
}
