// Handlers of subscriptions: where they run, what they may do, and how they end.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Handlers of subscriptions")
struct ObservationHandlerTests {
  @Test(
    "After cancel, or when the subscription is released, nothing is delivered",
    arguments: TestEngine.all)
  func cancelling(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let log = Log<[Int32]>()
      let dropped = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.all(), log)
      var held: (any WorkspaceSubscription)? = workspace.watch(workspace.posts.all(), dropped)
      try workspace.store([post(2)])
      #expect(log.events.count == 1 && dropped.events.count == 1)
      subscription.cancel()
      subscription.cancel()
      _ = held
      held = nil
      try workspace.store([post(3)])
      #expect(log.events.count == 1 && dropped.events.count == 1)
    }
  }

  @Test("Handlers are released when their subscription ends", arguments: TestEngine.all)
  func handlersEnd(engine: TestEngine) throws {
    final class Thing: Sendable {}
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      var thing: Thing? = Thing()
      weak let weakThing = thing
      let result = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) {
        [thing] _ in _ = thing
      }
      let object = workspace.dflat.subscribe(object: stored[0]) { [thing] _ in _ = thing }
      thing = nil
      #expect(weakThing != nil)
      result.cancel()
      try workspace.remove([1])
      #expect(weakThing == nil)
      object.cancel()
    }
  }

  @Test("In a handler a program may fetch, change, subscribe and cancel", arguments: TestEngine.all)
  func insideHandlers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let seen = Log<[Int32]>()
      let inner = Log<[Int32]>()
      let subscriptions = Mutex<[any WorkspaceSubscription]>([])
      let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { result in
        seen.add(workspace.posts.all().map(\.number))
        if result.count == 2 {
          let mine = workspace.watch(result, inner)
          subscriptions.withLock { $0.append(mine) }
          workspace.dflat.performChanges([Post.self]) { txn in
            txn.try(submit: Blog.PostChangeRequest.creationRequest(post(3)))
          }
        } else {
          subscriptions.withLock { $0.first }?.cancel()
        }
      }
      try workspace.store([post(2)])
      try workspace.settle()
      try workspace.store([post(4)])
      #expect(seen.events == [[1, 2], [1, 2, 3], [1, 2, 3, 4]])
      #expect(inner.events.count <= 1)
      subscription.cancel()
    }
  }

  @Test("A slow handler delays neither the writer nor other types", arguments: TestEngine.all)
  func slowHandler(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let gate = DispatchSemaphore(value: 0)
      let log = Log<Int>()
      let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { result in
        gate.expect("what the handler waits for")
        log.add(result.count)
      }
      let ran = DispatchSemaphore(value: 0)
      let completed = Log<Int32>()
      for number: Int32 in 2...4 {
        workspace.dflat.performChanges(
          [Post.self],
          changesHandler: { txn in
            txn.try(submit: Blog.PostChangeRequest.creationRequest(post(number)))
            ran.signal()
          }, completionHandler: { _ in completed.add(number) })
      }
      for _ in 0..<3 { ran.expect("a transaction") }
      let note = try workspace.write([Note.self]) { txn in
        _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: 1)))
      }
      #expect(note.isCommitted)
      #expect(log.events.isEmpty && completed.events.isEmpty)
      for _ in 0..<3 { gate.signal() }
      completed.wait(3)
      #expect(log.events == [2, 3, 4] && completed.events == [2, 3, 4])
      subscription.cancel()
    }
  }

  @Test(
    "Handlers of one type never overlap, on whatever queue", arguments: TestEngine.all,
    [true, false])
  func noOverlap(engine: TestEngine, serial: Bool) throws {
    let queue =
      serial ? DispatchQueue(label: "one") : DispatchQueue(label: "many", attributes: .concurrent)
    try withTemporaryWorkspace(engine, settings: TestSettings(targetQueue: queue)) { workspace in
      let inside = Atomic(0)
      let overlaps = Atomic(0)
      let calls = Atomic(0)
      var subscriptions: [any WorkspaceSubscription] = []
      for _ in 0..<4 {
        subscriptions.append(
          workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
            if inside.add(1, ordering: .sequentiallyConsistent).newValue > 1 {
              overlaps.add(1, ordering: .sequentiallyConsistent)
            }
            calls.add(1, ordering: .sequentiallyConsistent)
            inside.subtract(1, ordering: .sequentiallyConsistent)
          })
      }
      for number: Int32 in 1...100 {
        let types: [Any.Type] = number % 3 == 0 ? [Post.self, Note.self] : [Post.self]
        workspace.dflat.performChanges(types) { txn in
          txn.try(submit: Blog.PostChangeRequest.creationRequest(post(number)))
        }
      }
      try workspace.settle()
      #expect(calls.load(ordering: .sequentiallyConsistent) == 400)
      #expect(overlaps.load(ordering: .sequentiallyConsistent) == 0)
      withExtendedLifetime(subscriptions) {}
    }
  }

  @Test(
    "After cancel has returned no callback starts, while changes arrive", arguments: TestEngine.all)
  func cancelRace(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      for round in 0..<(isLongRun ? 500 : 50) {
        let isCancelled = Atomic(false)
        let isInside = Mutex(false)
        let late = Atomic(0)
        let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { _ in
          isInside.withLock { _ in
            if isCancelled.load(ordering: .sequentiallyConsistent) {
              late.add(1, ordering: .sequentiallyConsistent)
            }
          }
        }
        for step: Int32 in 1...4 {
          workspace.dflat.performChanges([Post.self]) { txn in
            guard let request = Blog.PostChangeRequest.changeRequest(post(1)) else { return }
            request.likes = Int32(round) * 10 + step
            txn.try(submit: request)
          }
        }
        subscription.cancel()
        // A call that had started before may still be about to take this lock: it counts as
        // started.
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        try workspace.settle()
        #expect(late.load(ordering: .sequentiallyConsistent) <= 1)
      }
    }
  }

  @Test("After shutdown a subscription never has an event", arguments: TestEngine.all)
  func afterShutdown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])
      let result = workspace.posts.all()
      let before = Log<[Int32]>()
      let subscription = workspace.watch(result, before)
      workspace.dflat.shutdown()
      let log = Log<[Int32]>()
      let object = Log<Int32?>()
      let late = [workspace.watch(result, log), workspace.watch(stored[0], object)]
      #expect(log.events.isEmpty && object.events.isEmpty && before.events.isEmpty)
      for one in late { one.cancel() }
      subscription.cancel()
    }
  }
}
