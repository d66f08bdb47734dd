// Opening, snapshots, shutdown, and the order in which handlers run.

import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@testable import Dflat

@Suite("Lifetime of a workspace")
struct LifetimeTests {
  @Test(
    "A snapshot sees the state of its first fetch; nested snapshots join it",
    arguments: TestEngine.all)
  func snapshot(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      workspace.dflat.fetchWithinASnapshot {
        onAnotherThread { _ = try? workspace.store([post(2)]) }
        #expect(workspace.posts.all().count == 2, "the state is that of the first fetch")
        // A transaction commits during the snapshot and stays invisible.
        _ = try? workspace.store([post(3)])
        #expect(workspace.posts.all().count == 2)
        workspace.dflat.fetchWithinASnapshot { #expect(workspace.posts.all().count == 2) }
        #expect(workspace.posts.where(Post.likes == 0).count == 2)
      }
      #expect(workspace.posts.all().count == 3)
    }
  }

  @Test(
    "A snapshot or transaction that is running at shutdown can still read",
    arguments: TestEngine.all)
  func readingThroughShutdown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      workspace.dflat.fetchWithinASnapshot {
        _ = workspace.posts.all()
        workspace.dflat.shutdown {}
        #expect(workspace.posts.all().count == 1)
        onAnotherThread { #expect(workspace.posts.all().isEmpty) }
      }
      #expect(workspace.posts.all().isEmpty)
      #expect(workspace.takeErrors().count == 2, "who came too late")
    }
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      let outcome = try workspace.write([Post.self]) { txn in
        workspace.dflat.shutdown {}
        #expect(workspace.posts.all().count == 1)
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        #expect(workspace.posts.all().count == 2)
      }
      #expect(outcome.isCommitted)
    }
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      workspace.dflat.fetchWithinASnapshot {
        workspace.dflat.shutdown {}
        // Waits until the shutdown has done everything that does not wait for the snapshot: it
        // begins when all accepted operations have ended, and has two steps.
        workspace.dflat._core.accepted.wait()
        for _ in 0..<2 { workspace.dflat._core.closing.sync {} }
        #expect(workspace.posts.all().count == 1, "the snapshot began before the shutdown")
      }
    }
  }

  @Test(
    "After shutdown work is rejected at once, and shutting down again completes",
    arguments: TestEngine.all)
  func afterShutdown(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      workspace.dflat.shutdown()
      let box = ErrorBox()
      workspace.dflat.performChanges([Post.self], changesHandler: { _ in box.fail() }) { success in
        #expect(!success)
        box.touch()
      }
      #expect(box.touches == 1, "the completion handler is called before performChanges returns")
      #expect(workspace.posts.all().isEmpty)
      #expect(workspace.dflat.fetchWithinASnapshot { workspace.posts.all().count } == 0)
      #expect(workspace.takeErrors().map { $0.message.contains("shut down") } == [true, true])
      workspace.dflat.shutdown()
      workspace.dflat.shutdown(completion: { box.touch() })
      #expect(box.touches == 2)
    }
  }

  @Test(
    "Handlers run on the target queue, in the order of the calls, serial or not",
    arguments: TestEngine.all)
  func targetQueue(engine: TestEngine) throws {
    for attributes in [[], [.concurrent]] as [DispatchQueue.Attributes] {
      let queue = DispatchQueue(label: "target", attributes: attributes)
      let key = DispatchSpecificKey<Int>()
      queue.setSpecific(key: key, value: 7)
      try withTemporaryWorkspace(engine, settings: TestSettings(targetQueue: queue)) { workspace in
        let order = OrderBox()
        for number in 0..<50 {
          workspace.dflat.performChanges(
            [Post.self, Post.self],
            changesHandler: { _ in
              #expect(DispatchQueue.getSpecific(key: key) == 7)
              order.add(number)
            },
            completionHandler: { _ in #expect(DispatchQueue.getSpecific(key: key) == 7) })
        }
        workspace.dflat.shutdown()
        #expect(order.numbers == Array(0..<50))
      }
    }
  }

  @Test(
    "Objects captured by handlers and completions are released after the last notification",
    arguments: TestEngine.all)
  func handlersAreLetGo(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let gone = DispatchSemaphore(value: 0)
      let count = 300
      for number in 0..<count {
        let inHandler = Farewell(gone)
        let inCompletion = Farewell(gone)
        workspace.dflat.performChanges([Post.self]) { transaction in
          withExtendedLifetime(inHandler) {}
          if number % 3 == 0 { return }
          let request = Blog.PostChangeRequest.creationRequest(post(Int32(number)))
          _ = try? transaction.submit(request)
          if number % 7 == 0 { _ = transaction.abort() }
        } completionHandler: { _ in
          withExtendedLifetime(inCompletion) {}
        }
      }
      for number in 0..<(2 * count) {
        guard gone.expect("the end of value \(number) of \(2 * count)") else { break }
      }
    }
  }

  @Test(
    "Inside a transaction or snapshot another workspace reads its own file",
    arguments: TestEngine.all)
  func otherWorkspaceInside(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { first in
      try withTemporaryWorkspace(engine) { second in
        try first.store([post(1)])
        try first.write([Note.self]) { _ in #expect(second.posts.all().isEmpty) }
        first.dflat.fetchWithinASnapshot {
          #expect(first.posts.all().count == 1)
          #expect(second.posts.all().isEmpty)
          _ = try? second.store([post(1), post(2)])
          #expect(second.posts.all().count == 2)
        }
      }
    }
  }

  @Test("A query builder may be used any number of times, or never", arguments: TestEngine.all)
  func builder(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let builders = (0..<500).map { _ in workspace.posts }
      try workspace.store([post(1)])
      #expect(builders[0].all().count == 1)
      #expect(builders[0].where(Post.number == 1).count == 1)
    }
  }

  @Test(
    "A fetched object carries the clock before its fetch; a stored one carries −1",
    arguments: TestEngine.all)
  func clock(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stored = try workspace.store([post(1)])[0]
      #expect(stored._changesTimestamp == -1 && post(1)._changesTimestamp == -1)
      let early = workspace.posts.all()[0]._changesTimestamp
      try workspace.write([Note.self]) { _ in }
      #expect(workspace.posts.all()[0]._changesTimestamp > early)
      try workspace.write([Post.self]) { txn in
        #expect(workspace.posts.all()[0]._changesTimestamp > early)
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        #expect(workspace.posts.all()[0]._changesTimestamp == 0)
      }
      #expect(workspace.posts.all()[0] == stored)
    }
  }
}

/// Reports when it is released.
private final class Farewell: Sendable {
  private let gone: DispatchSemaphore

  init(_ gone: DispatchSemaphore) { self.gone = gone }

  deinit { gone.signal() }
}
