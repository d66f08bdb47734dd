// Watching results and objects: which notifications are delivered, when and in which order, and
// when none are.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Watching")
struct ObservationTests {
  @Test(
    "A result is delivered once for each transaction that changes it, before the completion",
    arguments: TestEngine.all)
  func results(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...5).map { post($0, likes: $0 * 10) })
      let result = workspace.posts.where(
        Post.likes >= 30, orderBy: [Post.likes.descending])
      let log = Log<[Int32]>()
      let subscription = workspace.watch(result, log)
      try workspace.store([post(6, likes: 35)])
      #expect(log.events == [[5, 4, 6, 3]])
      try workspace.change(4) { $0.likes = 5 }
      #expect(log.events.last == [5, 6, 3])
      try workspace.change(6) { $0.tags = ["only its content"] }
      #expect(log.events.count == 3)
      try workspace.change(3) { $0.likes = 100 }
      #expect(log.events.last == [3, 5, 6])
      try workspace.remove([5, 6])
      #expect(log.events.count == 5 && log.events.last == [3])
      try workspace.store([post(7, likes: 1)])
      try workspace.change(7) { $0.likes = 2 }
      try workspace.remove([7])
      #expect(log.events.count == 5)
      subscription.cancel()
    }
  }

  @Test(
    "Types are notified in the order in which a transaction first changed them",
    arguments: TestEngine.all)
  func typesInOrder(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<String>()
      let subscriptions = [
        workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in log.add("posts") },
        workspace.dflat.subscribe(fetchedResult: workspace.dflat.fetch(for: Note.self).all()) { _ in
          log.add("notes")
        },
      ]
      for number: Int32 in 1...2 {
        try workspace.write([Post.self, Note.self]) { txn in
          if number == 1 { _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1))) }
          _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: UInt64(number))))
          _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(number + 10)))
          _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: UInt64(number) + 10)))
        }
      }
      #expect(log.events == ["posts", "notes", "notes", "posts"])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "Changes that are aborted, identical or reverted in the same transaction are not delivered",
    arguments: TestEngine.all)
  func nothing(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1)])
      let all = Log<[Int32]>()
      let one = Log<Int32?>()
      let subscriptions = [
        workspace.watch(workspace.posts.all(), all),
        workspace.watch(workspace.posts.all()[0], one),
      ]
      try workspace.change(1) { $0.likes = 1 }
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        txn.abort()
      }
      try workspace.write([Post.self]) { txn in
        let new = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        let deletion = Blog.PostChangeRequest.deletionRequest(new)
        if let deletion { try txn.submit(deletion) }
        for likes: Int32 in [2, 1] {
          guard let request = Blog.PostChangeRequest.changeRequest(post(1)) else { continue }
          request.likes = likes
          try txn.submit(request)
        }
        // Rejected: it has no effect.
        txn.try(submit: Blog.PostChangeRequest.creationRequest(post(1)))
      }
      #expect(all.events.isEmpty && one.events.isEmpty)
      try workspace.write([Post.self]) { txn in
        let new = try txn.insert(Blog.PostChangeRequest.creationRequest(post(3)))
        guard let request = Blog.PostChangeRequest.changeRequest(new) else { return }
        request.likes = 9
        try txn.submit(request)
      }
      #expect(all.events == [[1, 3]] && one.events.isEmpty)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "An object's updates are delivered, then its deletion; a new object does not revive it",
    arguments: TestEngine.all)
  func objects(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1), post(2)])
      let log = Log<Int32?>()
      let other = Log<Int32?>()
      let byKey = Log<Int32?>()
      let subscriptions = [
        workspace.watch(stored[0], log), workspace.watch(stored[1], other),
        workspace.watch(post(1), byKey),
      ]
      try workspace.change(1) { $0.likes = 1 }
      try workspace.change(1) { $0.likes = 2 }
      try workspace.remove([1])
      try workspace.store([post(1, likes: 7)])
      try workspace.change(1) { $0.likes = 8 }
      #expect(log.events == [1, 2, nil])
      #expect(byKey.events == [1, 2, nil])
      #expect(other.events.isEmpty)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "Results that are out of date catch up, each subscription by itself", arguments: TestEngine.all)
  func catchingUp(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1), post(2), post(3)])
      let old = workspace.posts.all()
      try workspace.change(1) { $0.likes = 1 }
      try workspace.remove([2])
      let first = Log<[Int32]>()
      let second = Log<[Int32]>()
      let changed = Log<Int32?>()
      let gone = Log<Int32?>()
      let same = Log<Int32?>()
      let unknown = Log<Int32?>()
      let subscriptions = [
        workspace.watch(old, first), workspace.watch(old, second), workspace.watch(old[0], changed),
        workspace.watch(old[1], gone), workspace.watch(stored[2], same),
        workspace.watch(post(77), unknown),
      ]
      try workspace.settle()
      #expect(first.events == [[1, 3]] && second.events == [[1, 3]])
      #expect(changed.events == [1] && gone.events == [nil] && same.events.isEmpty)
      #expect(unknown.events == [nil])
      try workspace.change(3) { $0.likes = 3 }
      #expect(first.events.count == 2 && same.events == [3])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "A result from before the file exists is filled by later transactions",
    arguments: TestEngine.all)
  func noFile(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.all(limit: .limit(2)), log)
      try workspace.store([post(1), post(2), post(3)])
      try workspace.remove([1])
      #expect(log.events == [[1, 2], [2, 3]])
      subscription.cancel()
    }
  }

  @Test("A limited result refills, however objects leave it", arguments: TestEngine.all)
  func refill(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...200).map { post($0, likes: $0) })
      let result = workspace.posts.where(
        Post.likes > 0, limit: .limit(5), orderBy: [Post.likes.ascending])
      let log = Log<[Int32]>()
      let subscription = workspace.watch(result, log)
      for start: Int32 in stride(from: 1, to: 190, by: 5) {
        try workspace.remove(Array(start..<start + 5))
        #expect(log.events.last == Array(start + 5..<start + 10))
      }
      #expect(log.events.count == 38)
      subscription.cancel()
    }
  }

  @Test(
    "Transactions after subscribe are never missed, those before are in the result",
    arguments: TestEngine.all)
  func order(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<[Int32]>()
      var subscriptions: [any WorkspaceSubscription] = []
      let result = workspace.posts.all()
      for number: Int32 in 1...50 {
        workspace.dflat.performChanges([Post.self]) { txn in
          txn.try(submit: Blog.PostChangeRequest.creationRequest(post(number)))
        }
        if number == 20 { subscriptions.append(workspace.watch(result, log)) }
      }
      try workspace.settle()
      // One for catching up, and one for each transaction that came later.
      #expect(log.events == (20...50).map { Array(1...$0) })
    }
  }

  @Test(
    "A result that an aborted transaction has fetched of its own changes does not count as stored",
    arguments: TestEngine.all)
  func aborted(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.all(), log)
      let late = Log<[Int32]>()
      let lateSubscription = Mutex<(any WorkspaceSubscription)?>(nil)
      let done = DispatchSemaphore(value: 0)
      workspace.dflat.performChanges(
        [Post.self],
        changesHandler: { txn in
          txn.try(submit: Blog.PostChangeRequest.creationRequest(post(2)))
          let seen = workspace.posts.all()
          lateSubscription.withLock { $0 = workspace.watch(seen, late) }
          txn.abort()
        }, completionHandler: { _ in done.signal() })
      done.expect("the completion")
      try workspace.settle()
      #expect(log.events.isEmpty)
      #expect(late.events == [[1]])
      subscription.cancel()
      lateSubscription.withLock { $0?.cancel() }
    }
  }

  @Test("Of many changes in one transaction, each finds its observers", arguments: TestEngine.all)
  func manyChanges(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...80).map { post($0, likes: $0 % 10) })
      var watched: [(query: () -> FetchedResult<Post>, told: Log<[Int32]>)] = []
      var subscriptions: [any WorkspaceSubscription] = []
      func watch(_ query: @escaping () -> FetchedResult<Post>) {
        let log = Log<[Int32]>()
        subscriptions.append(workspace.watch(query(), log))
        watched.append((query, log))
      }
      // Registered under two fields, so that each change is looked up twice, and old values differ
      // from new ones.
      for number: Int32 in 1...100 { watch { workspace.posts.where(Post.number == number) } }
      for likes: Int32 in 0...12 { watch { workspace.posts.where(Post.likes == likes) } }
      let before = watched.map { $0.query().map(\.number) }
      try workspace.write([Post.self]) { txn in
        for number: Int32 in 1...80 {
          let old = post(number)
          if number % 7 == 0 {
            try txn.submit(try #require(Blog.PostChangeRequest.deletionRequest(old)))
          } else if number % 3 != 0 {
            let request = try #require(Blog.PostChangeRequest.changeRequest(old))
            request.likes += 3
            try txn.submit(request)
          }
        }
        for number: Int32 in 81...90 {
          _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(number, likes: 1)))
        }
      }
      for (number, watch) in watched.enumerated() {
        let after = watch.query().map(\.number)
        // A result by key is notified of changes of an object that stays in it, too.
        let isSame = before[number] == after && (number >= 100 || after.allSatisfy { $0 % 3 == 0 })
        #expect(watch.told.events == (isSame ? [] : [after]), "result \(number)")
      }
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test("Delivered objects carry no clock value", arguments: TestEngine.all)
  func clock(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      let times = Log<Int64>()
      let subscriptions = [
        workspace.dflat.subscribe(object: stored[0]) { event in
          if case .updated(let post) = event { times.add(post._changesTimestamp) }
        },
        workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) {
          times.add($0[0]._changesTimestamp)
        },
      ]
      try workspace.change(1) { $0.likes = 3 }
      #expect(times.events == [-1, -1])
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "Snapshots: a result that was fetched in an old state catches up", arguments: TestEngine.all)
  func snapshots(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let log = Log<[Int32]>()
      let subscription = workspace.dflat.fetchWithinASnapshot {
        _ = workspace.posts.all()
        #expect(throws: Never.self) { try workspace.store([post(2)]) }
        // The state is that of the first fetch, and so is the clock.
        return workspace.watch(workspace.posts.all(), log)
      }
      try workspace.settle()
      #expect(log.events == [[1, 2]])
      subscription.cancel()
    }
  }

  @Test("A result of another workspace counts as out of date", arguments: TestEngine.all)
  func otherWorkspace(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1), post(2)])
      try withTemporaryWorkspace(engine) { other in
        try other.store([post(1)])
        for _ in 0..<5 { try other.settle() }
        let log = Log<[Int32]>()
        let subscription = workspace.watch(other.posts.all(), log)
        try workspace.settle()
        #expect(log.events == [[1, 2]])
        subscription.cancel()
      }
    }
  }
}
