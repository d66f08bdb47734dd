// Changes by other workspaces on the same file.

import DflatTestSupport
import Dispatch
import SQLiteAccess
import SQLiteDflat
import Testing

@testable import Dflat

@Suite("Other writers", .endsSometime)
struct OtherWriterTests {
  @Test("They are not noticed unless that was requested")
  func off() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.all(), log)
      try workspace.settle()
      let other = workspace.secondWorkspace()
      try other.store([post(2)])
      try workspace.settle()
      #expect(log.events.isEmpty)
      subscription.cancel()
      other.dflat.shutdown()
    }
  }

  @Test("refresh notifies observers of their changes, for results and objects")
  func refresh() async throws {
    try await withTemporaryFile { workspace in
      let stored = try workspace.store((1...4).map { post($0, likes: $0) })
      let all = Log<[Int32]>()
      let some = Log<[Int32]>()
      let none = Log<[Int32]>()
      let changed = Log<Int32?>()
      let gone = Log<Int32?>()
      let subscriptions = [
        workspace.watch(workspace.posts.all(), all),
        workspace.watch(
          workspace.posts.where(
            Post.likes > 1, limit: .limit(2), orderBy: [Post.likes.descending]), some),
        workspace.watch(workspace.posts.where(Post.likes == 2), none),
        workspace.watch(stored[0], changed), workspace.watch(stored[3], gone),
      ]
      let stale = workspace.posts.all()
      let other = workspace.secondWorkspace()
      try other.change(1) { $0.likes = 9 }
      try other.remove([4])
      await workspace.dflat.refresh()
      #expect(all.events == [[1, 2, 3]] && some.events == [[1, 3]] && none.events.isEmpty)
      #expect(changed.events == [9] && gone.events == [nil])
      let late = Log<[Int32]>()
      let lateSubscription = workspace.watch(stale, late)
      // It was fetched before, and is known to be outdated without another query.
      try workspace.settle()
      #expect(late.events == [[1, 2, 3]])
      await workspace.dflat.refresh()
      #expect(all.events.count == 1 && late.events.count == 1)
      // Own changes continue from there.
      try workspace.change(1) { $0.likes = 0 }
      #expect(some.events.last == [3, 2] && changed.events == [9, 0])
      withExtendedLifetime((subscriptions, lateSubscription)) {}
      await other.dflat.shutdown()
    }
  }

  @Test("What others make of a row whose own change is not delivered yet is delivered behind it")
  func overtaken() throws {
    try withTemporaryFile { workspace in
      try workspace.store((1...2).map { post($0, likes: 0) })
      let other = workspace.secondWorkspace()
      let likes = Log<[Int32]>()
      let (isCalled, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let subscription = workspace.dflat.subscribe(fetchedResult: workspace.posts.all()) { posts in
        likes.add(posts.map(\.likes))
        // The first handler keeps all later deliveries waiting.
        guard posts.map(\.likes) == [1, 0] else { return }
        isCalled.signal()
        mayGoOn.expect("the changes of the others")
      }
      let first = DispatchQueue(label: "first")
      first.async { do { try workspace.change(1) { $0.likes = 1 } } catch { Issue.record(error) } }
      isCalled.expect("the first change")
      let isRefreshed = DispatchSemaphore(value: 0)
      workspace.dflat._core.refresh { _ in isRefreshed.signal() }
      let second = DispatchQueue(label: "second")
      second.async { do { try workspace.change(2) { $0.likes = 2 } } catch { Issue.record(error) } }
      #expect(eventually { other.posts.where(Post.likes == 2).count == 1 })
      try other.change(2) { $0.likes = 3 }
      mayGoOn.signal()
      #expect(eventually { likes.events.last == [1, 3] }, "\(likes.events)")
      isRefreshed.expect("the refresh")
      subscription.cancel()
      first.sync {}
      second.sync {}
      other.dflat.shutdown()
    }
  }

  @Test("While a transaction waits for another program's lock, observers catch up")
  func catchingUp() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let stale = workspace.posts.all()
      try workspace.store([post(2)])
      let other = try workspace.foreignConnection()
      try other.execute("BEGIN IMMEDIATE")
      let outcomes = Log<Bool>()
      workspace.dflat.performChanges(
        [Note.self],
        changesHandler: { txn in
          let request = NoteChangeRequest.creationRequest()
          txn.try(submit: request)
        }, completionHandler: { outcomes.add($0) })
      let isWaiting = eventually { !workspace.dflat._core.coordinator.isIdle }
      #expect(isWaiting)
      let late = Log<[Int32]>()
      let subscription = workspace.watch(stale, late)
      late.wait()
      #expect(late.events == [[1, 2]] && outcomes.events.isEmpty)
      try other.execute("ROLLBACK")
      outcomes.wait()
      #expect(outcomes.events == [true])
      subscription.cancel()
      try other.close()
    }
  }

  @Test("An object that another workspace has fetched is found by its row id, whatever its key is")
  func movedKeys() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 2)])
      let objects = workspace.posts.all().map(\.self)
      try workspace.change(1) { $0.number = 100 }
      try workspace.change(2) { $0.number = 1 }
      let other = workspace.secondWorkspace()
      let found = try other.write([Post.self]) { _ in
        objects.map { Blog.PostChangeRequest.changeRequest($0)?.number }
      }
      #expect(found.result == [100, 1])
      other.dflat.shutdown()
    }
  }

  @Test("They are noticed by periodic checks, until the shutdown")
  func looking() throws {
    try withTemporaryFile { workspace in
      let log = Log<[Int32]>()
      let subscription = workspace.watch(workspace.posts.all(), log)
      workspace.dflat.lookForOtherWriters(every: .milliseconds(1))
      let other = workspace.secondWorkspace()
      for number: Int32 in 1...5 {
        try other.store([post(number)])
        log.wait()
        #expect(log.events.last == Array(1...number))
        try workspace.store([post(100 + number)])
        log.wait()
        try workspace.remove([100 + number])
        log.wait()
      }
      #expect(log.events.count == 15)
      other.dflat.shutdown()
      workspace.dflat.shutdown()
      subscription.cancel()
    }
  }
}
