// What happens to the objects that refer to a deleted one.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

@Suite("Deletion rules")
struct DeletionRuleTests {
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
      try txn.insert(contentsOf: [
        Writer(handle: "ada"), Writer(handle: "ben", mentor: "ada"), Writer(handle: "cid"),
      ])
      try txn.insert(contentsOf: [Label(name: "red"), Label(name: "blue")])
      try txn.insert(contentsOf: [
        Story(id: 1, writer: "ada", labels: ["red", "blue", "red"]),
        Story(id: 2, writer: "ben", editor: "ada", labels: ["red"], parent: 1),
        Story(id: 3, writer: "ben", editor: "ada", labels: ["blue"]),
        Story(id: 4, writer: "cid", parent: 2),
      ])
      try txn.insert(contentsOf: [
        Stamp(id: 1, label: "blue", stories: [1, 3, 4], owner: "ada"),
        Stamp(id: 2, stories: [2]),
      ])
    }
  }

  @Test("Cascade and nullify, through several types, in one transaction", arguments: TestEngine.all)
  func rules(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let isDeleted = try dflat.write(Writer.self) { try $0.delete(Writer(handle: "ada")) }
      #expect(isDeleted)
      // Story 1 is Ada's, 2 is a reply to it, and 4 one to that.
      #expect(
        dflat.fetch(for: Story.self).all()
          == FetchedResult([
            Story(id: 3, writer: "ben", labels: ["blue"])
          ]))
      #expect(
        dflat.fetch(for: Writer.self).all()
          == FetchedResult([
            Writer(handle: "ben"), Writer(handle: "cid"),
          ]))
      // Without a rule the key stays.
      #expect(
        dflat.fetch(for: Stamp.self).all()
          == FetchedResult([
            Stamp(id: 1, label: "blue", stories: [3], owner: "ada"), Stamp(id: 2),
          ]))
      for schema in [Writer._schema, Story._schema, Label._schema, Stamp._schema] {
        #expect(try workspace.faults(of: schema).isEmpty)
      }
    }
  }

  @Test("Deny refuses one request, and the transaction goes on", arguments: TestEngine.all)
  func deny(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let denied =
        "deletionDenied: Label (name: \"blue\") is not deleted: label of Stamp (id: 1) refers to it; delete that Stamp first, or set its label"
      try dflat.write(Label.self) { txn in
        do {
          try txn.delete(Label(name: "blue"))
          Issue.record("it was deleted")
        } catch let error as DeletionDenied {
          #expect(error.description == denied)
        }
        try txn.delete(Label(name: "red"))
      }
      #expect(dflat.fetch(for: Label.self).all().map(\.name) == ["blue"])
      #expect(
        dflat.fetch(for: Story.self).all().map(\.labels) == [["blue"], [], ["blue"], []])
      let outcome = try workspace.write([Label.self]) { txn in
        let request = try #require(
          Guild.LabelChangeRequest.deletionRequest(Label(name: "blue")))
        #expect(throws: DeletionDenied.self) { try txn.submit(request) }
      }
      #expect(outcome.isCommitted)
      #expect(throws: DeletionDenied.self) {
        try dflat.write(Label.self) { try $0.delete($0.query(Label.self)) }
      }
      #expect(dflat.fetch(for: Label.self).all().count == 1)
    }
  }

  @Test("Deletions of many objects follow the rules, too", arguments: TestEngine.all)
  func bulk(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let deleted = try dflat.write(Writer.self) {
        try $0.delete(where: Writer.handle.in(["ada", "cid"]))
      }
      #expect(deleted.deleted == 2)
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [3])
      try dflat.write(Writer.self) { txn in
        let change = try txn.delete(Writer.self, keys: ["ben", "ben", "zoe"])
        #expect(change.deleted == 1 && change.missing == 1)
      }
      #expect(dflat.fetch(for: Story.self).all().isEmpty)
      #expect(dflat.fetch(for: Stamp.self).all().map(\.stories) == [[], []])
    }
  }

  @Test("A deletion is undone with its transaction", arguments: TestEngine.all)
  func rollback(engine: TestEngine) throws {
    struct Stop: Error {}
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let before = dflat.fetch(for: Story.self).all()
      #expect(throws: Stop.self) {
        try dflat.write(Writer.self) { txn in
          try txn.delete(Writer(handle: "ada"))
          throw Stop()
        }
      }
      #expect(dflat.fetch(for: Story.self).all() == before)
    }
  }

  @Test("Circles end, and the objects of one may all be deleted", arguments: TestEngine.all)
  func circles(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Story.self) { txn in
        for id in 1...3 as ClosedRange<Int64> {
          try txn.insert(Story(id: id, parent: id % 3 + 1))
        }
        try txn.insert(Story(id: 4, parent: 4))
        try txn.insert(Story(id: 5, parent: 6))
      }
      try dflat.write(Story.self) { txn in try txn.delete(Story(id: 2)) }
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [4, 5])
      try dflat.write(Story.self) { txn in try txn.delete(Story(id: 4)) }
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [5])
    }
  }

  // Dflat follows references, whatever the engine. Each object costs every engine the same.
  @Test("A chain of 100,000 objects", arguments: TestEngine.some([.sqlite]))
  func chain(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let length: Int64 = 100_000
      try dflat.write(Story.self) { txn in
        try txn.insert(
          contentsOf: (0..<length).map { Story(id: $0, parent: $0 == 0 ? nil : $0 - 1) })
      }
      try dflat.write(Story.self) { txn in try txn.delete(Story(id: 10)) }
      #expect(try dflat.query(Story.self).count() == 10)
    }
  }

  @Test(
    "A circle over two types, 100,000 objects deep", arguments: TestEngine.some([.memory]))
  func deepCircle(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let length: Int64 = 50_000
      try dflat.write(Ring.Knot.self, Ring.Rope.self) { txn in
        // Each knot refers to the rope before it, each rope to its knot, and the first knot to the
        // last rope.
        try txn.insert(
          contentsOf: (0..<length).map {
            Ring.Knot(id: $0, rope: $0 == 0 ? length - 1 : $0 - 1)
          })
        try txn.insert(contentsOf: (0..<length).map { Ring.Rope(id: $0, knot: $0) })
        try txn.insert(Ring.Knot(id: length, rope: length))
      }
      try dflat.write(Ring.Knot.self) { txn in try txn.delete(Ring.Knot(id: 10)) }
      #expect(try dflat.query(Ring.Knot.self).count() == 1)
      #expect(try dflat.query(Ring.Rope.self).count() == 0)
    }
  }

  @Test("Observers of every type are told once", arguments: TestEngine.all)
  func observation(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let calls = Mutex<[String]>([])
      let stories = dflat.subscribe(fetchedResult: dflat.fetch(for: Story.self).all()) { result in
        calls.withLock { $0.append("stories \(result.map(\.id))") }
      }
      let stamps = dflat.subscribe(fetchedResult: dflat.fetch(for: Stamp.self).all()) { result in
        calls.withLock { $0.append("stamps \(result.map(\.stories))") }
      }
      try await dflat.write(Writer.self) { txn in _ = try txn.delete(Writer(handle: "ada")) }
      #expect(
        calls.withLock { $0.sorted() } == ["stamps [[3], []]", "stories [3]"])
      withExtendedLifetime((stories, stamps)) {}
    }
  }

  @Test(
    "A deletion waits for the transactions of the types that it can reach",
    arguments: TestEngine.all)
  func locks(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      // Called first, so the deletion comes after it and finds the new story.
      async let added: Void = dflat.write(Story.self) { txn in
        _ = try txn.insert(Story(id: 10, writer: "cid"))
      }
      try await added
      try await dflat.write(Writer.self) { txn in _ = try txn.delete(Writer(handle: "cid")) }
      #expect(dflat.find(Story.self, 10) == nil)
      let order = Mutex<[Int]>([])
      await withCheckedContinuation { done in
        dflat.performChanges([Stamp.self]) { _ in order.withLock { $0.append(1) } }
        dflat.performChanges([Writer.self]) { _ in order.withLock { $0.append(2) } }
        dflat.performChanges([Stamp.self]) { _ in
          order.withLock { $0.append(3) }
        } completionHandler: { _ in
          done.resume()
        }
      }
      #expect(order.withLock(\.self) == [1, 2, 3])
    }
  }
}
