// Objects together with their related ones, joins, and keys without an object.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

@Suite("Related objects in one fetch")
struct IncludedRelationTests {
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
      try txn.insert(contentsOf: [
        Writer(handle: "ada", name: "Ada"), Writer(handle: "ben", name: "two"),
        Writer(handle: "cid", mentor: "ada"),
      ])
      try txn.insert(contentsOf: [Label(name: "red"), Label(name: "blue")])
      try txn.insert(contentsOf: [
        Story(id: 1, title: "one", likes: 9, writer: "ada", labels: ["blue", "red", "blue"]),
        Story(id: 2, title: "two", writer: "zoe", labels: ["none"]),
        Story(id: 3, title: "two", likes: 4, writer: "ada", parent: 1),
        Story(id: 4, parent: 9),
      ])
      try txn.insert(Stamp(id: 1, stories: [1, 7, 7], owner: "eve"))
    }
  }

  @Test("The object that a key refers to, or nil", arguments: TestEngine.all)
  func target(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let query = dflat.query(Story.self).orderBy(Story.id.descending)
      let result = try query.including(Story.writer).fetch()
      #expect(result.map(\.object.id) == [4, 3, 2, 1])
      #expect(result.map(\.related?.name) == [nil, "Ada", nil, "Ada"])
      #expect(result.objects == (try query.fetch()))
      let parents = try dflat.query(Story.self).where(Story.parent.isNotNull)
        .including(Story.parent).fetch()
      #expect(parents.map(\.related?.title) == ["one", nil])
      for (story, parent) in parents { #expect(parent?.id == (story.id == 3 ? 1 : nil)) }
      #expect(throws: QueryError.self) { try query.including(Story.parent.writer).fetch() }
    }
  }

  @Test("The objects of a vector of keys, in its order", arguments: TestEngine.all)
  func vector(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let result = try dflat.query(Story.self).including(Story.labels).fetch()
      #expect(result.map { $0.related.map(\.name) } == [["blue", "red", "blue"], [], [], []])
      let stamps = try dflat.query(Stamp.self).including(Stamp.stories).fetch()
      #expect(stamps.map { $0.related.map(\.id) } == [[1]])
    }
  }

  @Test("The objects that refer to an object", arguments: TestEngine.all)
  func inverse(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let writers = dflat.query(Writer.self)
      #expect(
        try writers.including(Writer.stories).fetch().map { $0.related.map(\.id) }
          == [[1, 3], [], []])
      #expect(
        try writers.including(Writer.stories.where(Story.likes > 5)).fetch()
          .map { $0.related.map(\.id) } == [[1], [], []])
      #expect(
        try dflat.query(Label.self).including(Label.stories).fetch().map { $0.related.map(\.id) }
          == [[1], [1]])
      #expect(try writers.limit(0).including(Writer.pupils).fetch().isEmpty)
    }
  }

  @Test("In a transaction its own changes, and both types must be named", arguments: TestEngine.all)
  func transactions(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let names = try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "zoe", name: "Zoe"))
        return try txn.query(Story.self).including(Story.writer).fetch().map(\.related?.name)
      }
      #expect(names == ["Ada", "Zoe", "Ada", nil])
      #expect(throws: WorkspaceError.undeclaredType("Writer")) {
        try dflat.write(Story.self) { try $0.query(Story.self).including(Story.writer).fetch() }
      }
      #expect(throws: WorkspaceError.undeclaredType("Story")) {
        try dflat.write(Writer.self) { try $0.query(Writer.self).including(Writer.stories).fetch() }
      }
    }
  }

  @Test("Pairs with an equal value", arguments: TestEngine.all)
  func joins(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let pairs = dflat.join(Story.self, Writer.self, on: Story.title, Writer.name)
      #expect(try pairs.fetch().map { "\($0.id) \($1.handle)" } == ["2 ben", "3 ben"])
      #expect(try pairs.where(Story.likes > 0).fetch().map(\.0.id) == [3])
      #expect(try pairs.where(Writer.handle == "ada").fetch().isEmpty)
      #expect(try pairs.orderBy(Story.id.descending).fetch().map(\.0.id) == [3, 2])
      let selves = try dflat.join(Story.self, Story.self, on: Story.title, Story.title)
        .where(Story.likes > 0).where(second: Story.likes == 0).fetch()
      #expect(selves.map { [$0.0.id, $0.1.id] } == [[3, 2]])
      #expect(throws: QueryError.self) {
        try dflat.join(Story.self, Writer.self, on: Story.writer.name, Writer.name).fetch()
      }
    }
  }

  @Test("Joined values are equal if a condition finds them equal", arguments: TestEngine.all)
  func joinedValues(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      try dflat.write(Writer.self) { txn in try txn.insert(Writer(handle: "TWO", name: "ONE")) }
      let left = dflat.join(
        Story.self, Writer.self, on: Story.title.caseInsensitive, Writer.handle)
      #expect(try left.fetch().map(\.0.id) == [2, 3])
      let right = dflat.join(
        Story.self, Writer.self, on: Story.title, Writer.name.caseInsensitive)
      #expect(try right.fetch().map(\.1.handle) == ["TWO", "ben", "ben"])
    }
  }

  @Test("A join of different units is a programmer error")
  func joinedUnits() async {
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try withTemporaryWorkspace { workspace in
        _ = workspace.dflat.join(Order.self, Order.self, on: Order.created, Order.changed)
      }
    }
    expectMessage(result, "cannot be compared", "Store both in one type and unit")
  }

  @Test("Keys without an object are found", arguments: TestEngine.all)
  func dangling(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try store(dflat)
      var found: [String] = []
      for schema in [Writer._schema, Story._schema] {
        try dflat.danglingReferences(of: schema) { found.append("\($0)") }
      }
      try dflat.danglingReferences(of: Stamp.self) { found.append("\($0)") }
      #expect(
        found == [
          "Story, row 2: writer refers to Writer (handle: \"zoe\"), which is not stored",
          "Story, row 2: labels refers to Label (name: \"none\"), which is not stored",
          "Story, row 4: parent refers to Story (id: 9), which is not stored",
          "Stamp, row 1: stories refers to Story (id: 7), which is not stored",
          "Stamp, row 1: stories refers to Story (id: 7), which is not stored",
          "Stamp, row 1: owner refers to Writer (handle: \"eve\"), which is not stored",
        ])
      let findings = try await dflat.checkIntegrity(of: Writer.self, Story.self, Stamp.self)
      #expect(findings.allSatisfy { $0.kind == .danglingReference })
      #expect(findings.map(\.message) == found)
      #expect(try await dflat.checkIntegrity(of: Story.self, limit: 2).count == 2)
      await #expect(throws: QueryError.self) {
        try await dflat.checkIntegrity(of: Story.self, limit: 0)
      }
    }
  }
}
