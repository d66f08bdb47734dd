// Subscriptions whose handlers run on a queue of the program, or on the main actor.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Subscriptions on a queue", .endsSometime)
struct QueuedSubscriptionTests {
  /// State of the main actor.
  @MainActor private final class Model {
    var likes: [[Int32]] = []
    var events: [Int32?] = []
    var insertions = 0
    var subscriptions: [any WorkspaceSubscription] = []
  }

  @Test(
    "On the main actor handlers use its state, in the order of the commits",
    arguments: TestEngine.all)
  func main(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await watchOnMainActor($0) }
  }

  @MainActor
  private func watchOnMainActor(_ workspace: TemporaryWorkspace) async throws {
    let dflat = workspace.dflat
    let stored = try workspace.store([post(1)])
    let model = Model()
    model.subscriptions = [
      dflat.subscribe(fetchedResult: workspace.posts.all(), on: .main) {
        model.likes.append($0.map(\.likes))
      },
      dflat.subscribe(object: stored[0], on: .main) { event in
        if case .updated(let post) = event {
          model.events.append(post.likes)
        } else {
          model.events.append(nil)
        }
      },
      dflat.subscribe(changesOf: workspace.posts.all(), on: .main) {
        model.insertions += $0.insertions.count
      },
    ]
    for likes: Int32 in 1...3 {
      try await dflat.write(Post.self) { txn in
        try txn.update(stored[0]) { $0.likes = likes }
        try txn.insert(post(likes + 1))
      }
    }
    try await dflat.write(Post.self) { try $0.delete(stored[0]) }
    // Calls for changes that were delivered before the commit was reported are before this block in
    // the main queue.
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(model.likes == [[1, 0], [2, 0, 0], [3, 0, 0, 0], [0, 0, 0]])
    #expect(model.events == [1, 2, 3, nil])
    #expect(model.insertions == 3)
  }

  @Test(
    "On a queue, even a concurrent one, calls keep their order and do not overlap",
    arguments: TestEngine.all)
  func queue(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let queue = DispatchQueue(label: "program", attributes: .concurrent)
      let key = DispatchSpecificKey<Bool>()
      queue.setSpecific(key: key, value: true)
      let likes = Mutex<[Int32]>([])
      let running = Atomic(0)
      let last = DispatchSemaphore(value: 0)
      try workspace.store([post(1)])
      let subscription = workspace.dflat.subscribe(
        fetchedResult: workspace.posts.all(), on: queue
      ) { result in
        #expect(running.add(1, ordering: .relaxed).newValue == 1)
        #expect(DispatchQueue.getSpecific(key: key) == true)
        likes.withLock { $0.append(result[0].likes) }
        running.subtract(1, ordering: .relaxed)
        if result[0].likes == 50 { last.signal() }
      }
      for number: Int32 in 1...50 { try workspace.change(1) { $0.likes = number } }
      last.expect("the last change")
      // Of changes that came before the queue ran, the newest.
      let heard = likes.withLock { $0 }
      #expect(zip(heard, heard.dropFirst()).allSatisfy { $0 < $1 } && heard.last == 50)
      subscription.cancel()
    }
  }

  @Test(
    "A busy queue delays no transaction, and after cancel no call that is queued there begins",
    arguments: TestEngine.all)
  func cancelled(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let queue = DispatchQueue(label: "busy")
      let calls = Mutex(0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let stored = try workspace.store([post(1)])
      let posts = workspace.posts.all()
      queue.async { mayGoOn.expect("that it may go on") }
      var subscriptions = [
        workspace.dflat.subscribe(fetchedResult: posts, on: queue) { _ in
          calls.withLock { $0 += 1 }
        },
        workspace.dflat.subscribe(object: stored[0], on: queue) { _ in calls.withLock { $0 += 1 } },
        workspace.dflat.subscribe(changesOf: posts, on: queue) { _ in calls.withLock { $0 += 1 } },
      ]
      // Commits and completions do not wait for the queue.
      try workspace.change(1) { $0.likes = 1 }
      subscriptions[0].cancel()
      subscriptions[1].cancel()
      // Releasing a subscription cancels it.
      subscriptions.removeAll()
      mayGoOn.signal()
      queue.sync {}
      #expect(calls.withLock { $0 } == 0)
    }
  }
}
