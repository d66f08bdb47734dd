// Live results that depend on other objects.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Live results across relations")
struct LiveRelationTests {
  /// Returns when everything that was called before has been delivered.
  private func settle(_ dflat: any Workspace) async throws {
    try await dflat.write(Writer.self, Story.self) { _ in }
  }

  @Test("A result follows changes of both types", arguments: TestEngine.all)
  func result(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "Ada"))
        try txn.insert(Story(id: 1, writer: "ada"))
        try txn.insert(Story(id: 2, writer: "ben"))
      }
      let result = dflat.fetch(for: Story.self).where(Story.writer.name == "Ada")
      #expect(result.map(\.id) == [1])
      let calls = Mutex<[[Int64]]>([])
      let subscription = dflat.subscribe(fetchedResult: result) { result in
        calls.withLock { $0.append(result.map(\.id)) }
      }
      try await settle(dflat)
      #expect(calls.withLock(\.self) == [])
      try await dflat.write(Writer.self) { txn in
        _ = try txn.insert(Writer(handle: "ben", name: "Ada"))
      }
      try await settle(dflat)
      #expect(calls.withLock(\.self) == [[1, 2]])
      try await dflat.write(Story.self) { txn in
        try txn.insert(Story(id: 3, writer: "cid"))
        _ = try txn.delete(Story(id: 1))
      }
      try await settle(dflat)
      #expect(calls.withLock(\.self) == [[1, 2], [2]])
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ben")) { $0.name = "Ben" }
      }
      try await settle(dflat)
      #expect(calls.withLock(\.self) == [[1, 2], [2], []])
      subscription.cancel()
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ben")) { $0.name = "Ada" }
      }
      try await settle(dflat)
      #expect(calls.withLock { $0.count } == 3)
    }
  }

  @Test("A subscription to an old result catches up", arguments: TestEngine.all)
  func catchUp(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Story.self) { _ = try $0.insert(Story(id: 1, writer: "ada")) }
      let old = dflat.fetch(for: Story.self).where(Story.writer.name == "Ada")
      try await dflat.write(Writer.self) { txn in
        _ = try txn.insert(Writer(handle: "ada", name: "Ada"))
      }
      let calls = Mutex<[[Int64]]>([])
      let subscription = dflat.subscribe(fetchedResult: old) { result in
        calls.withLock { $0.append(result.map(\.id)) }
      }
      try await settle(dflat)
      #expect(calls.withLock(\.self) == [[1]])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("Aggregates and sets of keys follow, too", arguments: TestEngine.all)
  func aggregates(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      let busy = dflat.query(Writer.self).where(Writer.stories.count > 1)
      let counts = Mutex<[Int]>([])
      let subscription = dflat.subscribe(busy.computing(.count)) { count in
        counts.withLock { $0.append(count) }
      }
      let ages = Mutex<[Int64?]>([])
      let other = dflat.subscribe(dflat.query(Story.self).computing(.sum(Story.writer.age))) {
        sum in
        ages.withLock { $0.append(sum.map { Int64($0) }) }
      }
      let keys = try await dflat.keySet(of: busy)
      try await dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", age: 20))
        _ = try txn.insert(contentsOf: [Story(id: 1, writer: "ada"), Story(id: 2, writer: "ada")])
      }
      try await settle(dflat)
      #expect(counts.withLock(\.self) == [0, 1])
      #expect(ages.withLock(\.self) == [0, 40])
      #expect(keys.keys == ["ada"])
      try await dflat.write(Story.self) { _ = try $0.delete(Story(id: 1)) }
      try await settle(dflat)
      #expect(counts.withLock(\.self) == [0, 1, 0])
      #expect(ages.withLock(\.self) == [0, 40, 20])
      #expect(keys.keys.isEmpty)
      withExtendedLifetime((subscription, other)) {}
    }
  }

  @Test("After a shutdown a subscription has no event", arguments: TestEngine.all)
  func shutdown(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let result = dflat.fetch(for: Story.self).where(Story.writer.name == "Ada")
      await dflat.shutdown()
      let subscription = dflat.subscribe(fetchedResult: result) { _ in
        Issue.record("it was called")
      }
      withExtendedLifetime(subscription) {}
    }
  }
}
