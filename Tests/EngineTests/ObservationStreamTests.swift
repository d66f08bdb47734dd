// Streams, differences and live queries.

import DflatTestSupport
import Dispatch
import Foundation
import Observation
import Platform
import Testing

@testable import Dflat

@Suite("Streams of changes", .endsSometime)
struct ObservationStreamTests {
  @Test(
    "A stream yields each change, and finishes when its object is deleted",
    arguments: TestEngine.all)
  func object(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      let stream = workspace.dflat.subscribe(object: stored[0], bufferingPolicy: .unbounded)
      try workspace.change(1) { $0.likes = 1 }
      try workspace.change(1) { $0.likes = 2 }
      try workspace.remove([1])
      var likes: [Int32] = []
      for await post in stream { likes.append(post.likes) }
      #expect(likes == [1, 2])
    }
  }

  @Test("By default the newest state is kept", arguments: TestEngine.all)
  func newest(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      let objects = workspace.dflat.subscribe(object: stored[0])
      let results = workspace.dflat.subscribe(fetchedResult: workspace.posts.all())
      for likes: Int32 in 1...3 { try workspace.change(1) { $0.likes = likes } }
      var object = objects.makeAsyncIterator()
      var result = results.makeAsyncIterator()
      #expect(await object.next()?.likes == 3)
      #expect(await result.next()?.map(\.likes) == [3])
    }
  }

  @Test("Dropping a stream cancels its subscription", arguments: TestEngine.all, [true, false])
  func dropped(engine: TestEngine, ofResult: Bool) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      let observers = workspace.dflat._core.observers.of(Post._schema)
      let hasBegun = DispatchSemaphore(value: 0)
      let isSubscribed = DispatchSemaphore(value: 0)
      let task = Task {
        hasBegun.signal()
        if ofResult {
          let results = workspace.dflat.subscribe(fetchedResult: workspace.posts.all())
          isSubscribed.signal()
          for await _ in results {}
        } else {
          let objects = workspace.dflat.subscribe(object: stored[0])
          isSubscribed.signal()
          for await _ in objects {}
        }
      }
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          hasBegun.waitForTurn()
          isSubscribed.expect("the subscription")
          continuation.resume()
        }
      }
      #expect(observers.isObserved)
      task.cancel()
      _ = await task.value
      #expect(!observers.isObserved)
      try workspace.store([post(2)])
    }
  }

  @Test("Changes arrive with their difference, one for each transaction", arguments: TestEngine.all)
  func changes(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...4).map { post($0, likes: $0) })
      let result = workspace.posts.where(Post.likes > 0, orderBy: [Post.likes.ascending])
      let changes = workspace.dflat.changes(of: result)
      let merged = workspace.dflat.changes(of: result, merging: true)
      try workspace.change(1) { $0.likes = 10 }
      try workspace.store([post(5, likes: 5)])
      try workspace.remove([2])
      try workspace.change(3) { $0.author = Blog.Author(handle: "h", name: "n") }
      var iterator = changes.makeAsyncIterator()
      let moved = try #require(await iterator.next())
      #expect(moved.result.map(\.number) == [2, 3, 4, 1])
      #expect(moved.moves.count == 1 && moved.removals.isEmpty && moved.insertions.isEmpty)
      #expect(moved.moves[0].from == 0 && moved.moves[0].to == 3)
      #expect(moved.updates.map(\.changedFields) == [["likes"]])
      #expect(moved.updates[0].previous.likes == 1 && moved.updates[0].element.likes == 10)
      #expect(moved.updates[0].changes(Post.likes) && !moved.updates[0].changes(Post.number))
      let inserted = try #require(await iterator.next())
      #expect(
        inserted.insertions.map(\.offset) == [3] && inserted.insertions[0].element.number == 5)
      let removed = try #require(await iterator.next())
      #expect(removed.removals.map(\.offset) == [0] && removed.removals[0].element.number == 2)
      let updated = try #require(await iterator.next())
      #expect(updated.updates.map(\.to) == [0] && updated.moves.isEmpty)
      #expect(updated.updates[0].changedFields == ["author"])
      #expect(updated.updates[0].changes(Post.author.name))
      #expect(!updated.updates[0].changes(Post.likes))
      var mergedIterator = merged.makeAsyncIterator()
      let all = try #require(await mergedIterator.next())
      #expect(all.result.map(\.number) == [3, 4, 5, 1])
      #expect(all.previous.map(\.number) == [1, 2, 3, 4])
      var array = all.previous.underlyingArray
      all.apply(to: &array)
      #expect(array == all.result.underlyingArray)
    }
  }

  @Test(
    "A live query changes, and notifies its observers", arguments: TestEngine.all, [true, false])
  func liveQuery(engine: TestEngine, onQueue: Bool) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let queue = onQueue ? DispatchQueue(label: "views") : nil
      let live = LiveQuery(workspace.posts.all(), in: workspace.dflat, on: queue)
      let changes = Log<Int>()
      withObservationTracking {
        #expect(live.result.count == 1)
      } onChange: {
        changes.add(1)
      }
      try workspace.store([post(2)])
      changes.wait()
      queue?.sync {}
      #expect(live.result.map(\.number) == [1, 2])
      try workspace.store([post(3)])
      queue?.sync {}
      #expect(live.result.map(\.number) == [1, 2, 3])
      #expect(changes.events.count == 1)
    }
  }

  @Test("A live query that is released is not updated any more", arguments: TestEngine.all)
  func liveQueryEnds(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      weak var live: LiveQuery<Post>?
      do {
        let query = LiveQuery(workspace.posts.all(), in: workspace.dflat, on: nil)
        live = query
        try workspace.store([post(2)])
        #expect(query.result.count == 2)
      }
      #expect(live == nil)
      #expect(!workspace.dflat._core.observers.of(Post._schema).isObserved)
      try workspace.store([post(3)])
    }
  }
}
