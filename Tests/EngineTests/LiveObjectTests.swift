// One observable object for one row.

import Dflat
import DflatTestSupport
import Dispatch
import Observation
import Testing

@Suite("Live objects")
struct LiveObjectTests {
  @Test("One row is one object, which follows transactions", arguments: TestEngine.all)
  func identity(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store((1...5).map { post($0, likes: $0) })
      let posts = dflat.uniqued(Post.self, on: nil)
      let objects = posts.objects(workspace.posts.all())
      #expect(objects.map(\.number) == [1, 2, 3, 4, 5] && posts.count == 5)
      let again = dflat.uniqued(Post.self, on: nil).objects(
        workspace.posts.all(orderBy: [Post.number.descending]))
      #expect(again == objects.reversed())
      #expect(posts[CompositeKey("s", 3)] === objects[2] && posts[CompositeKey("s", 9)] == nil)
      #expect(posts.object(post(2)) === objects[1] && posts.object(post(9)) == nil)
      try workspace.change(2) { $0.likes = 20 }
      #expect(objects[1].likes == 20 && objects[1].value.likes == 20)
      #expect(objects.map(\.isDeleted) == [false, false, false, false, false])
      try workspace.remove([3])
      #expect(objects[2].isDeleted && objects[2].likes == 3)
      try workspace.store([post(3, likes: 33)])
      let new = try #require(posts[CompositeKey("s", 3)])
      #expect(new !== objects[2] && new.likes == 33 && objects[2].likes == 3)
      // An aborted transaction changes nothing.
      try workspace.write([Post.self]) { txn in
        let request = Blog.PostChangeRequest.changeRequest(post(1))
        request?.likes = 99
        if let request { try txn.submit(request) }
        txn.abort()
      }
      #expect(objects[0].likes == 1)
    }
  }

  @Test("Objects are released with their last reference", arguments: TestEngine.all)
  func release(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0) })
      let posts = workspace.dflat.uniqued(Post.self, on: nil)
      var objects = posts.objects(workspace.posts.all())
      weak let first = objects[0]
      #expect(posts.count == 3 && first != nil)
      objects.removeFirst()
      #expect(posts.count == 2 && first == nil)
      try workspace.change(1) { $0.likes = 7 }
      #expect(posts.object(post(1))?.likes == 7 && posts.count == 2)
      objects = []
      #expect(posts.count == 0)
    }
  }

  @Test(
    "A fetched object that is newer gives its values, an older one does not",
    arguments: TestEngine.all)
  func newest(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let stored = try workspace.store([post(1, likes: 1), post(2)])
      let posts = dflat.uniqued(Post.self, on: nil)
      let old = workspace.posts.all()
      let object = try #require(posts.object(old[0]))
      try workspace.change(1) { $0.likes = 2 }
      // The second is new to the map, and the first has changed since they were fetched.
      #expect(posts.objects(old).map(\.likes) == [2, 0] && object.likes == 2)
      #expect(posts.objects(stored)[0] === object && object.likes == 2)
      // An object that was fetched before it was changed and deleted is brought up to date.
      try workspace.change(2) { $0.likes = 5 }
      let second = try #require(posts.object(old[1]))
      try workspace.settle()
      #expect(second.likes == 5)
      try workspace.remove([2])
      let late = try #require(posts.object(old[1]))
      try workspace.settle()
      #expect(late.isDeleted && second.isDeleted)
    }
  }

  @Test("A change that is delivered late does not replace a newer value", arguments: TestEngine.all)
  func late(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      // It delays the deliveries, before they reach the live object.
      let slow = dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
        entered.signal()
        gate.wait()
      }
      let posts = dflat.uniqued(Post.self, on: nil)
      let object = try #require(posts.object(post(1)))
      let seen = Log<Int32>()
      for likes in 1...2 as ClosedRange<Int32> {
        dflat.performChanges([Post.self]) { txn in
          let request = Blog.PostChangeRequest.changeRequest(post(1))
          request?.likes = likes
          if let request { txn.try(submit: request) }
        } completionHandler: { _ in
          seen.add(object.likes)
        }
      }
      try entered.wait(for: "the first delivery")
      let isCommitted = eventually { dflat.find(Post.self, ("s", 1))?.likes == 2 }
      #expect(isCommitted && object.likes == 0)
      // A server has committed before this process knows.
      let isNewest = eventually {
        posts.objects(workspace.posts.all()) == [object] && object.likes == 2
      }
      #expect(isNewest)
      for _ in 1...2 { gate.signal() }
      seen.wait(2)
      #expect(seen.events == [2, 2] && object.likes == 2)
      slow.cancel()
    }
  }

  @Test("A row that is stored before it is delivered stays", arguments: TestEngine.all)
  func stored(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
        entered.signal()
        gate.wait()
      }
      dflat.performChanges([Post.self]) { txn in
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(2)))
      }
      try entered.wait(for: "the first delivery")
      // The map begins to follow the type behind the delivery that waits, and before the next one.
      let posts = dflat.uniqued(Post.self, on: nil)
      dflat.performChanges([Post.self]) { txn in
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(9)))
      }
      let isCommitted = eventually { dflat.find(Post.self, ("s", 9)) != nil }
      #expect(isCommitted)
      let object = try #require(posts[CompositeKey("s", 9)])
      for _ in 1...2 { gate.signal() }
      try workspace.settle()
      #expect(!object.isDeleted && posts[CompositeKey("s", 9)] === object)
      slow.cancel()
    }
  }

  @Test("Objects of a transaction that is not committed", arguments: TestEngine.all)
  func uncommitted(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1, likes: 1)])
      let posts = dflat.uniqued(Post.self, on: nil)
      struct RolledBack: Error {}
      for isCommitted in [false, true] {
        let made = Log<[Live<Post>]>()
        let refreshes = Log<Task<Void, Never>>()
        do {
          try await dflat.write(Post.self) { txn -> Void in
            let changed = try txn.update(post(1)) { $0.likes = 8 }
            let inserted = try txn.insert(post(2, likes: 2))
            made.add(posts.objects([changed, inserted]))
            refreshes.add(Task { await dflat.refresh() })
            if !isCommitted { throw RolledBack() }
          }
        } catch is RolledBack {}
        for refresh in refreshes.events { await refresh.value }
        try workspace.settle()
        let objects = try #require(made.events.last)
        #expect(objects.map(\.likes) == [isCommitted ? 8 : 1, 2])
        #expect(objects.map(\.isDeleted) == [false, !isCommitted])
      }
    }
  }

  @Test(
    "Observation is notified of changes and deletions, and of nothing else",
    arguments: TestEngine.all)
  func observation(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1), post(2)])
      let objects = workspace.dflat.uniqued(Post.self, on: nil).objects(workspace.posts.all())
      let changes = Log<String>()
      withObservationTracking {
        _ = objects[0].likes
      } onChange: {
        changes.add("value")
      }
      withObservationTracking {
        _ = objects[0].isDeleted
      } onChange: {
        changes.add("deleted")
      }
      try workspace.change(2) { $0.likes = 7 }
      #expect(changes.events.isEmpty)
      try workspace.change(1) { $0.likes = 7 }
      #expect(changes.events == ["value"])
      try workspace.remove([1])
      #expect(changes.events == ["value", "deleted"])
    }
  }

  @Test("On a queue, objects change in jobs of the queue", arguments: TestEngine.all)
  func queue(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let queue = DispatchQueue(label: "test")
      try workspace.store([post(1)])
      let object = try #require(workspace.dflat.uniqued(Post.self, on: queue).object(post(1)))
      let other = try #require(workspace.dflat.uniqued(Post.self, on: nil).object(post(1)))
      #expect(object !== other)
      queue.suspend()
      try workspace.change(1) { $0.likes = 7 }
      #expect(object.likes == 0 && other.likes == 7)
      queue.resume()
      queue.sync {}
      #expect(object.likes == 7)
    }
  }

  @Test("The main actor reads objects that change on the main queue", arguments: TestEngine.all)
  func mainActor(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await useOnMainActor($0) }
  }

  @MainActor private func useOnMainActor(_ workspace: TemporaryWorkspace) async throws {
    let dflat = workspace.dflat
    _ = try await dflat.write(Post.self) { try $0.insert(post(1)) }
    let object = try #require(dflat.uniqued(Post.self).object(post(1)))
    _ = try await dflat.write(Post.self) { txn in try txn.update(post(1)) { $0.likes = 7 } }
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(object.likes == 7)
  }

  @Test("Threads that fetch, hold and release objects during changes", arguments: TestEngine.all)
  func threads(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store((1...8).map { post($0) })
      let posts = dflat.uniqued(Post.self, on: nil)
      let held = posts.objects(workspace.posts.all())
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<3 {
          group.addTask {
            var last = [Int32](repeating: 0, count: 9)
            for _ in 0..<40 {
              let fetched = dflat.fetch(for: Post.self).where(Post.number > Int32(worker))
              let objects = posts.objects(fetched)
              for object in objects {
                let place = Int(object.number)
                // Values never go back.
                #expect(object.likes >= last[place] && object === held[place - 1])
                last[place] = object.likes
              }
              await Task.yield()
            }
          }
        }
        for round in 1...40 as ClosedRange<Int32> {
          _ = try? await dflat.write(Post.self) { txn in
            try txn.update(post(round % 8 + 1)) { $0.likes = round }
          }
        }
      }
      #expect(held.map(\.value) == workspace.posts.all().map(\.self))
    }
  }
}
