// Subscriptions and shutdowns at moments that are easily got wrong.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Subscriptions at odd moments")
struct SubscriptionEdgeTests {
  @Test(
    "A result of an aborted transaction is corrected, in a type that never changed",
    arguments: TestEngine.all)
  func aborted(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<[Int32]>()
      let kept = Mutex<(any WorkspaceSubscription)?>(nil)
      let dflat = workspace.dflat
      _ = try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1)))
        let phantom = dflat.fetch(for: Post.self).all()
        #expect(phantom.map(\.number) == [1])
        kept.withLock { $0 = workspace.watch(phantom, log) }
        #expect(txn.abort())
      }
      try workspace.store([post(2)])
      #expect(log.events.last == [2])
      kept.withLock { $0 }?.cancel()
    }
  }

  @Test("shutdown() may be called again inside a completion handler", arguments: TestEngine.all)
  func shutdownAgain(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let entered = DispatchSemaphore(value: 0)
      let closed = DispatchSemaphore(value: 0)
      let done = DispatchSemaphore(value: 0)
      dflat.performChanges([Post.self]) { _ in
        entered.signal()
        closed.wait()
      } completionHandler: { _ in
        dflat.shutdown()
        done.signal()
      }
      try entered.wait(for: "the transaction")
      let ended = DispatchSemaphore(value: 0)
      dflat.shutdown { ended.signal() }
      closed.signal()
      try done.wait(for: "the second shutdown")
      try ended.wait(for: "the first shutdown")
    }
  }

  @Test(
    "A key that is removed with all others is removed once for its watchers",
    arguments: TestEngine.all)
  func removedOnce(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let log = Log<String>()
      var dictionary = workspace.dflat.dictionary
      dictionary["k"] = "a"
      let subscription = dictionary.subscribe("k", of: String.self) { log.add("\($0)") }
      dictionary.removeAll()
      let count = log.events.count
      dictionary["k"] = nil as String?
      #expect(log.events.count == count, "\(log.events)")
      dictionary["k"] = "b"
      #expect(log.events.count == count + 1)
      subscription.cancel()
    }
  }

  @Test("The initial value is delivered by the thread that subscribes", arguments: TestEngine.all)
  func initialThread(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let dictionary = dflat.dictionary
      let isOver = Atomic(false)
      let setter = DispatchGroup()
      onOwnThread(in: setter) {
        var dictionary = dflat.dictionary
        var number = 0
        while !isOver.load(ordering: .relaxed) {
          number += 1
          dictionary["k"] = number
        }
      }
      for _ in 0..<2000 {
        let me = ThreadIdentity.current
        let first = Mutex<ThreadIdentity?>(nil)
        let subscription = dictionary.subscribe("k", of: Int.self) { _ in
          first.withLock { if $0 == nil { $0 = .current } }
        }
        #expect(first.withLock { $0 } == me)
        subscription.cancel()
      }
      isOver.store(true, ordering: .relaxed)
      setter.expect("the setter")
    }
  }
}
