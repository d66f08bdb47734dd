// What observing ends with: the last value of a deleted object, and the last call of a handler.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

@Suite("The end of observing")
struct LastValueTests {
  @Test(
    "A deleted live object has its last value, also if both changes are shown together",
    arguments: TestEngine.all)
  func deletedLiveObject(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 1)])
      let queue = DispatchQueue(label: "live")
      let posts = workspace.dflat.uniqued(Post.self, on: queue)
      let objects = posts.objects(workspace.posts.all())
      try workspace.settle()
      queue.suspend()
      try workspace.change(1) { $0.likes = 2 }
      try workspace.remove([1])
      try workspace.remove([2])
      queue.resume()
      queue.sync {}
      #expect(objects.map(\.isDeleted) == [true, true])
      #expect(objects.map(\.likes) == [2, 1])
    }
  }

  private final class Held: Sendable {}

  @Test(
    "A handler of changed keys is called and released like any other", arguments: TestEngine.all)
  func changedKeys(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<[Int32]?>()
      weak var released: Held?
      var subscription: (any WorkspaceSubscription)?
      do {
        let held = Held()
        released = held
        subscription = workspace.dflat.subscribe(changedKeysOf: Post.self) { keys in
          withExtendedLifetime(held) {}
          log.add(keys?.map(\.parts.1))
        }
      }
      try workspace.settle()
      #expect(log.events.first == .some(nil))
      try workspace.store([post(1), post(2)])
      try workspace.change(2) { $0.number = 3 }
      try workspace.remove([1])
      // Where other programs are followed, there may be more calls without keys.
      #expect(log.events.compactMap { $0?.sorted() } == [[1, 2], [2, 3], [1]])
      subscription?.cancel()
      let calls = log.events.count
      #expect(released == nil, "the handler is released")
      try workspace.store([post(4)])
      #expect(log.events.count == calls)
      withExtendedLifetime(subscription) {}
    }
  }
}
