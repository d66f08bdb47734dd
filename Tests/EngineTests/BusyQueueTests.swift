// What waits for a queue that is busy becomes one call; live objects show what was awaited there.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Busy queues", .endsSometime)
struct BusyQueueTests {
  /// State of the main actor.
  @MainActor private final class Model {
    var likes: [[Int32]] = []
    var events: [Int32?] = []
    var pairs: [Int] = []

    func add(_ event: SubscribedObject<Post>) {
      if case .updated(let post) = event { events.append(post.likes) } else { events.append(nil) }
    }
  }

  /// Runs `body` while the main queue is busy, and returns when that has done what waits for it.
  private func keepingMainQueueBusy(_ body: () throws -> Void) async throws {
    let mayGoOn = DispatchSemaphore(value: 0)
    DispatchQueue.main.async { mayGoOn.expect("that it may go on") }
    do {
      defer { mayGoOn.signal() }
      try body()
    }
    await mainQueueHasRun()
  }

  private func keepingBusy(_ queue: DispatchQueue, _ body: () throws -> Void) rethrows {
    queue.suspend()
    defer {
      queue.resume()
      queue.sync {}
    }
    try body()
  }

  private func mainQueueHasRun() async {
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
  }

  // What waits in a queue does not depend on the engine.
  @Test(
    "A thousand commits while the main actor is busy are one call with the newest state",
    arguments: [TestEngine.memory])
  func states(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let stored = try workspace.store([post(1), post(2)])
      let posts = workspace.posts.all()
      let join = dflat.join(Post.self, Post.self, on: Post.likes, Post.likes)
      let model = Model()
      let subscriptions: [any WorkspaceSubscription] = [
        dflat.subscribe(fetchedResult: posts, on: .main) { model.likes.append($0.map(\.likes)) },
        dflat.subscribe(object: stored[0], on: .main) { model.add($0) },
        dflat.subscribe(object: stored[1], on: .main) { model.add($0) },
        dflat.subscribe(join, on: .main) { model.pairs.append($0.count) },
      ]
      try workspace.settle()
      await mainQueueHasRun()
      await MainActor.run { model.pairs = [] }
      try await keepingMainQueueBusy {
        for number: Int32 in 1...1_000 {
          try workspace.change(1) { $0.likes = number }
          if number == 500 { try workspace.change(2) { $0.likes = 500 } }
        }
        try workspace.remove([2])
        // Joins are asked again behind the transactions.
        try workspace.settle()
      }
      await MainActor.run {
        #expect(model.likes == [[1_000]])
        #expect(model.events.count == 2)
        #expect(model.events.contains(1_000) && model.events.contains(nil))
        #expect(model.pairs == [1])
        model.likes = []
      }
      // What comes later comes by itself.
      try workspace.change(1) { $0.likes = 7 }
      await mainQueueHasRun()
      await MainActor.run { #expect(model.likes == [[7]]) }
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test(
    "Differences that wait are merged, and none is lost", arguments: [TestEngine.memory],
    [true, false])
  func differences(engine: TestEngine, onMainActor: Bool) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      func all() -> FetchedResult<Post> { workspace.posts.all(orderBy: [Post.likes.descending]) }
      var random = SeededGenerator(seed: testSeed())
      var kept = all().underlyingArray
      let changes = Mutex<[ResultChange<Post>]>([])
      let take: @Sendable (ResultChange<Post>) -> Void = { change in
        changes.withLock { $0.append(change) }
      }
      let queue = DispatchQueue(label: "program")
      let subscription =
        onMainActor
        ? workspace.dflat.subscribe(changesOf: all(), on: .main) { take($0) }
        : workspace.dflat.subscribe(changesOf: all(), on: queue, changeHandler: take)
      for stall: Int32 in 0..<5 {
        let body = {
          for _ in 0..<100 { try changeSomething(in: workspace, &random) }
          // The result differs from the one before.
          try workspace.store([post(1_000 + stall)])
        }
        if onMainActor {
          try await keepingMainQueueBusy(body)
        } else {
          try keepingBusy(queue, body)
        }
        let news = changes.withLock { changes in
          defer { changes = [] }
          return changes
        }
        #expect(news.count == 1, "DFLAT_SEED=\(random.seed)")
        for change in news {
          #expect(change.previous.underlyingArray == kept, "DFLAT_SEED=\(random.seed)")
          change.apply(to: &kept)
        }
        #expect(kept == all().underlyingArray, "DFLAT_SEED=\(random.seed)")
      }
      subscription.cancel()
    }
  }

  @Test("Changes that undo each other are no difference", arguments: [TestEngine.memory])
  func undone(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let calls = Mutex(0)
      let subscription = workspace.dflat.subscribe(changesOf: workspace.posts.all(), on: .main) {
        _ in calls.withLock { $0 += 1 }
      }
      try await keepingMainQueueBusy {
        try workspace.change(1) { $0.likes = 1 }
        try workspace.change(1) { $0.likes = 0 }
      }
      #expect(calls.withLock { $0 } == 0)
      subscription.cancel()
    }
  }

  private func changeSomething(
    in workspace: TemporaryWorkspace, _ random: inout SeededGenerator
  ) throws {
    let number = Int32.random(in: 1...20, using: &random)
    if workspace.posts.where(Post.number == number).isEmpty {
      try workspace.store([post(number, likes: number)])
    } else if random.oneIn(3) {
      try workspace.remove([number])
    } else {
      let likes = Int32.random(in: 1...20, using: &random)
      try workspace.change(number) { $0.likes = likes }
    }
  }

  // MARK: Live objects

  @Test(
    "After a write that the main actor has awaited, live objects there show it",
    arguments: TestEngine.all)
  func awaited(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await writeOnMainActor($0) }
  }

  /// Live objects, and what they have to show.
  @MainActor private struct Shown {
    let list: LiveQuery<Post>
    let count: LiveValue<Int>
    let object: Live<Post>

    init(_ workspace: TemporaryWorkspace) throws {
      let dflat = workspace.dflat
      list = LiveQuery(workspace.posts.all(), in: dflat)
      count = try LiveValue(dflat.query(Post.self).computing(.count))
      object = try #require(dflat.uniqued(Post.self).object(workspace.posts.all()[0]))
    }

    func expect(
      _ likes: [Int32], sourceLocation: SourceLocation = #_sourceLocation
    ) {
      #expect(list.result.map(\.likes) == likes, sourceLocation: sourceLocation)
      #expect(count.value == likes.count, sourceLocation: sourceLocation)
      #expect(object.likes == likes[0], sourceLocation: sourceLocation)
    }
  }

  @MainActor
  private func writeOnMainActor(_ workspace: TemporaryWorkspace) async throws {
    try workspace.store([post(1)])
    let shown = try Shown(workspace)
    let calls = Log<Int>()
    let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all(), on: .main) {
      calls.add($0.count)
    }
    // Awaited writes return behind the updates.
    try await workspace.dflat.write(Post.self) { txn in
      try txn.update(post(1)) { $0.likes = 1 }
      _ = try txn.insert(post(2))
    }
    shown.expect([1, 0])
    #expect(calls.events == [2])
    subscription.cancel()
  }

  @Test(
    "After a synchronous write elsewhere, live objects wait for the main queue",
    arguments: TestEngine.all)
  func elsewhere(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let shown = try await Shown(workspace)
      try await keepingMainQueueBusy {
        try workspace.dflat.write(Post.self) { txn in
          try txn.update(post(1)) { $0.likes = 1 }
        }
        #expect(shown.object.likes == 0 && shown.list.result[0].likes == 0)
      }
      await shown.expect([1])
    }
  }
}
