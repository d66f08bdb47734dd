// Relations where there is no other object, where there are very many, and where something fails.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

@Suite("Edges of relations")
struct RelationEdgeTests {
  /// Story 2 has no writer, and the writer of story 3 is not stored.
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Story.self, Label.self) { txn in
      try txn.insert(contentsOf: [Writer(handle: "ada", name: "Ada"), Writer(handle: "ben")])
      try txn.insert(contentsOf: [Label(name: "red", rank: 1)])
      try txn.insert(contentsOf: [
        Story(id: 1, writer: "ada", labels: ["red"]), Story(id: 2), Story(id: 3, writer: "zoe"),
        Story(id: 4, writer: "ben"),
      ])
    }
  }

  @Test(
    "Without the other object a condition is what it is for unknown values",
    arguments: TestEngine.all)
  func unknown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      func ids<C: QueryExpression<Bool, Guild.Story>>(_ condition: C) throws -> [Int64] {
        try dflat.query(Story.self).where(condition).keys()
      }
      let isMissing = Function("isMissing") { (name: String?) in name == nil }
      #expect(try ids(isMissing(Story.writer.name)) == [2, 3, 4])
      #expect(try ids(!isMissing(Story.writer.name)) == [1])
      #expect(try ids(Story.writer.name.isNull == true) == [2, 3, 4])
      #expect(try ids(Story.writer.name.isNull == false) == [1])
      #expect(try ids((Story.writer.name == "Ada").isNull) == [2, 3, 4])
      // The elements of an object's own vector are never unknown.
      #expect(try ids((Story.labels.any { $0.rank == 1 }).isNull).isEmpty)
      #expect(try ids((Story.labels.any { $0.rank == 1 }) == true) == [1])
      #expect(try ids((Story.labels.any { $0.rank == 1 }) == false) == [2, 3, 4])
    }
  }

  @Test("Whether there is another object is a value like others", arguments: TestEngine.all)
  func presence(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let stories = dflat.query(Story.self)
      let isMissing = Story.writer.related.isNull
      #expect(try stories.where(isMissing == true).keys() == [2, 3])
      #expect(try stories.where(isMissing == false).keys() == [1, 4])
      #expect(try stories.where(isMissing != Story.parent.related.isNull).keys() == [1, 4])
      #expect(try stories.where(Story.writer.related.isNotNull == (Story.id > 2)).keys() == [2, 4])
      #expect(try stories.where((isMissing || Story.id == 1) == true).keys() == [1, 2, 3])
      #expect(try stories.select(isMissing.required) == [false, true, true, false])
      #expect(try stories.orderBy(isMissing.ascending).keys() == [1, 4, 2, 3])
      #expect(try stories.group(by: isMissing, .count).count == 2)
    }
  }

  @Test(
    "A second request for an object that is gone leaves another one alone",
    arguments: TestEngine.all)
  func staleRequest(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      try workspace.write([Writer.self, Story.self]) { txn in
        let requests = (1...2).map { _ in
          Guild.WriterChangeRequest.deletionRequest(Writer(handle: "ada"))
        }
        try txn.submit(try #require(requests[0]))
        try txn.submit(Guild.WriterChangeRequest.creationRequest(Writer(handle: "ada")))
        try txn.submit(Guild.StoryChangeRequest.creationRequest(Story(id: 9, writer: "ada")))
        // There is nothing to delete any more.
        try txn.submit(try #require(requests[1]))
      }
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [2, 3, 4, 9])
      #expect(dflat.find(Writer.self, "ada") != nil)
    }
  }

  @Test("A deletion in the body of forEach is refused", arguments: TestEngine.all)
  func deletionInsideOfReading(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      try dflat.write(Writer.self, Story.self) { txn in
        let ada = try #require(try txn.find(Writer.self, "ada"))
        for isWriting in [false, true] {
          if isWriting { try txn.insert(Story(id: 10)) }
          #expect(throws: WorkspaceError.calledByFunction) {
            try txn.query(Story.self).forEach(Story.id.required) { _ in
              try txn.delete(ada)
            }
          }
        }
        #expect(try txn.delete(ada))
      }
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [2, 3, 4, 10])
    }
  }

  @Test("Very many keys", arguments: TestEngine.all)
  func manyKeys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let count = 2_600
      let handles = (0..<count).map { "w\($0)" }
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(contentsOf: handles.map { Writer(handle: $0, name: "N\($0)") })
        try txn.insert(
          contentsOf: (0..<Int64(count * 2)).map { Story(id: $0, writer: handles[Int($0) / 2]) })
      }
      let condition = Story.writer.name.hasPrefix("N") && Story.id.in([5, 7, 9])
      #expect(try dflat.query(Story.self).where(condition).keys() == [5, 7, 9])
      let plan = try dflat.query(Story.self).where(condition).explain()
      if engine.testDescription == TestEngine.sqlite.testDescription {
        #expect(plan.indexedFields == ["id"])
      }
      for number in [300, 2_100] {
        try dflat.write(Writer.self, Story.self) { txn in
          let gone = try txn.query(Writer.self).limit(number).keys()
          #expect(try txn.delete(Writer.self, keys: gone).deleted == number)
        }
        #expect(
          try dflat.query(Story.self).count() == 2 * (try dflat.query(Writer.self).count()))
      }
    }
  }

  @Test("Joins with a limited query, and sections by other objects", arguments: TestEngine.all)
  func limits(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let last = dflat.query(Writer.self).orderBy(Writer.handle.descending).limit(1)
      let pairs = try dflat.query(Story.self).join(last, on: Story.writer, Writer.handle).fetch()
      #expect(pairs.map(\.0.id) == [4])
      let error = #expect(throws: QueryError.self) {
        try dflat.query(Story.self).sectioned(by: Story.writer.name)
      }
      #expect(error?.cause == .unsupportedRelation)
    }
  }

  @Test("Live results are delivered while all readers are in use", arguments: TestEngine.all)
  func delivery(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try store(dflat)
      let seen = Log<Int>()
      let query = dflat.query(Story.self).where(Story.writer.name == "Ada")
      let subscription = dflat.subscribe(query.computing(.count)) { seen.add($0) }
      // More threads than there are readers read, and wait for a delivery that reads, too.
      let threads = 12
      let (reading, all) = (Log<Int>(), DispatchGroup())
      let go = DispatchSemaphore(value: 0)
      for number in 1...threads {
        all.enter()
        Thread.detachNewThread {
          try? dflat.read { snapshot in
            _ = try snapshot.query(Writer.self).count()
            reading.add(number)
            go.wait()
            try dflat.write(Story.self) { txn in
              _ = try txn.insert(Story(id: Int64(100 + number), writer: "ada"))
            }
          }
          all.leave()
        }
      }
      // As many as there are readers.
      reading.wait(4)
      for _ in 1...threads { go.signal() }
      all.expect("the end")
      let isSeen = eventually { seen.events.last == threads + 1 }
      #expect(isSeen)
      subscription.cancel()
    }
  }
}
