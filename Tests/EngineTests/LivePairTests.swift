// Live results of objects with their related ones, and of joins.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label

@Suite("Live pairs")
struct LivePairTests {
  /// Returns when everything that was called before has been delivered.
  private func settle(_ dflat: any Workspace) async throws {
    try await dflat.write(Writer.self, Story.self, Label.self) { _ in }
  }

  private func store(_ dflat: any Workspace) async throws {
    try await dflat.write(Writer.self, Story.self, Label.self) { txn in
      try txn.insert(contentsOf: [
        Writer(handle: "ada", name: "Ada"), Writer(handle: "ben", name: "Ben"),
      ])
      try txn.insert(Label(name: "red"))
      try txn.insert(contentsOf: [
        Story(id: 1, title: "Ada", likes: 3, writer: "ada", labels: ["red", "blue"]),
        Story(id: 2, title: "Ben", likes: 5, writer: "cid"),
      ])
    }
  }

  @Test("A changed, added or deleted author is told, and nothing else", arguments: TestEngine.all)
  func authors(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await store(dflat)
      let log = Log<[String]>()
      let stories = dflat.query(Story.self).orderBy(Story.likes.ascending).including(Story.writer)
      let subscription = dflat.subscribe(stories) { result in
        log.add(result.map { "\($0.object.id) \($0.related?.name ?? "-")" })
      }
      try await settle(dflat)
      #expect(log.events == [["1 Ada", "2 -"]])
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ada")) { $0.name = "Countess" }
      }
      try await settle(dflat)
      #expect(log.events.last == ["1 Countess", "2 -"])
      // A writer of no story, and a change that is none.
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ben")) { $0.name = "Benjamin" }
        _ = try txn.update(Writer(handle: "ada")) { $0.name = "Countess" }
      }
      try await settle(dflat)
      #expect(log.events.count == 2)
      try await dflat.write(Writer.self) { try $0.insert(Writer(handle: "cid", name: "Cid")) }
      try await settle(dflat)
      #expect(log.events.last == ["1 Countess", "2 Cid"])
      try await dflat.write(Story.self) { txn in
        _ = try txn.update(Story(id: 2)) { $0.likes = 1 }
      }
      try await settle(dflat)
      #expect(log.events.last == ["2 Cid", "1 Countess"])
      // Its story goes with it.
      try await dflat.write(Writer.self) { _ = try $0.delete(Writer(handle: "cid")) }
      try await settle(dflat)
      #expect(log.events.last == ["1 Countess"])
      let count = log.events.count
      subscription.cancel()
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ada")) { $0.name = "Ada" }
      }
      try await settle(dflat)
      #expect(log.events.count == count)
    }
  }

  @Test("Vectors of keys and inverses are followed, too", arguments: TestEngine.all)
  func vectors(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await store(dflat)
      let labels = Log<[Int32]>()
      let first = dflat.subscribe(
        dflat.query(Story.self).where(Story.id == 1).including(Story.labels)
      ) { labels.add($0.flatMap { $0.related.map(\.rank) }) }
      let liked = Log<[Int64]>()
      let writers = dflat.query(Writer.self).where(Writer.handle == "ada")
      let second = dflat.subscribe(
        writers.including(Writer.stories.where(Story.likes > 1))
      ) { liked.add($0.flatMap { $0.related.map(\.id) }) }
      // A condition on what is related to the related ones.
      let labelled = Log<[Int64]>()
      let third = dflat.subscribe(
        writers.including(Writer.stories.where(Story.labels.any { $0.rank == 9 }))
      ) { labelled.add($0.flatMap { $0.related.map(\.id) }) }
      try await settle(dflat)
      try await dflat.write(Label.self) { txn in
        try txn.insert(Label(name: "blue", rank: 9))
      }
      try await settle(dflat)
      try await dflat.write(Story.self) { try $0.insert(Story(id: 3, likes: 7, writer: "ada")) }
      try await settle(dflat)
      try await dflat.write(Story.self) { txn in
        _ = try txn.update(Story(id: 1)) { $0.likes = 0 }
      }
      try await settle(dflat)
      #expect(labels.events == [[0], [0, 9], [0, 9]])
      #expect(liked.events == [[1], [1, 3], [3]])
      #expect(labelled.events == [[], [1], [1]])
      withExtendedLifetime((first, second, third)) {}
    }
  }

  @Test("A join follows both of its types", arguments: TestEngine.all)
  func joins(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await store(dflat)
      let log = Log<[String]>()
      let join = dflat.join(Story.self, Writer.self, on: Story.title, Writer.name)
        .where(Story.likes > 2)
      let subscription = dflat.subscribe(join) { pairs in
        log.add(pairs.map { "\($0.id) \($1.handle)" })
      }
      try await settle(dflat)
      #expect(log.events == [["1 ada", "2 ben"]])
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ben")) { $0.name = "Ada" }
      }
      try await settle(dflat)
      #expect(log.events.last == ["1 ada", "1 ben"])
      try await dflat.write(Story.self) { txn in
        _ = try txn.update(Story(id: 2)) { $0.likes = 9 }
      }
      try await settle(dflat)
      // It has no partner.
      #expect(log.events.count == 2)
      try await dflat.write(Story.self) { txn in
        _ = try txn.update(Story(id: 1)) { $0.likes = 0 }
      }
      try await settle(dflat)
      #expect(log.events.last == [])
      withExtendedLifetime(subscription) {}
    }
  }

  @Test(
    "Streams begin with the current result", .endsSometime, arguments: TestEngine.all)
  func streams(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await store(dflat)
      let stories = dflat.query(Story.self).where(Story.id == 1).including(Story.writer)
      var results = dflat.values(of: stories).makeAsyncIterator()
      var pairs = dflat.values(
        of: dflat.join(Story.self, Writer.self, on: Story.title, Writer.name)
      ).makeAsyncIterator()
      #expect(await results.next()?.first?.related?.name == "Ada")
      #expect(await pairs.next()?.count == 2)
      try await dflat.write(Writer.self) { txn in
        _ = try txn.update(Writer(handle: "ada")) { $0.name = "Countess" }
      }
      #expect(await results.next()?.first?.related?.name == "Countess")
      #expect(await pairs.next()?.count == 1)
    }
  }

  @MainActor private final class Screen {
    var authors: [String] = []
    var pairs: [Int] = []
  }

  @Test("Handlers run on the main actor, or on a queue", arguments: TestEngine.all)
  func queues(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await watchOnQueues($0.dflat) }
  }

  @MainActor
  private func watchOnQueues(_ dflat: any Workspace) async throws {
    try await store(dflat)
    let screen = Screen()
    let queue = DispatchQueue(label: "program")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let log = Log<String>()
    let stories = dflat.query(Story.self).where(Story.id == 1).including(Story.writer)
    let join = dflat.join(Story.self, Writer.self, on: Story.title, Writer.name)
    let subscriptions: [any WorkspaceSubscription] = [
      dflat.subscribe(stories, on: .main) { screen.authors.append($0[0].related?.name ?? "-") },
      dflat.subscribe(join, on: .main) { screen.pairs.append($0.count) },
      dflat.subscribe(stories, on: queue) { result in
        #expect(DispatchQueue.getSpecific(key: key) == true)
        log.add(result[0].related?.name ?? "-")
      },
      dflat.subscribe(join, on: queue) { pairs in
        #expect(DispatchQueue.getSpecific(key: key) == true)
        log.add("\(pairs.count)")
      },
    ]
    // Calls that were delivered are before these blocks in both queues.
    func settleQueues() async throws {
      try await settle(dflat)
      await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
      await withCheckedContinuation { done in queue.async { done.resume() } }
    }
    try await settleQueues()
    try await dflat.write(Writer.self) { txn in
      _ = try txn.update(Writer(handle: "ada")) { $0.name = "Countess" }
    }
    try await settleQueues()
    #expect(screen.authors == ["Ada", "Countess"])
    #expect(screen.pairs == [2, 1])
    #expect(log.events.sorted() == ["1", "2", "Ada", "Countess"])
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test(
    "A subscription keeps no workspace, and has no event after a shutdown",
    arguments: TestEngine.all)
  func ends(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      let stories = dflat.query(Story.self).including(Story.writer)
      let join = dflat.join(Story.self, Writer.self, on: Story.title, Writer.name)
      await dflat.shutdown()
      let subscriptions: [any WorkspaceSubscription] = [
        dflat.subscribe(stories) { _ in Issue.record("it was called") },
        dflat.subscribe(join) { _ in Issue.record("it was called") },
      ]
      withExtendedLifetime(subscriptions) {}
    }
  }
}
