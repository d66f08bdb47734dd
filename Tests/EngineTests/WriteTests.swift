// Transactions that return a result and throw errors.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@Suite("write and read")
struct WriteTests {
  @Test(
    "Values go in, stored objects come out, and the closure's result is returned",
    arguments: TestEngine.all)
  func values(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let stored = try await dflat.write(Post.self) { txn in
        try txn.insert(post(1, likes: 1))
        return try txn.insert(post(2, likes: 2))
      }
      #expect(stored._rowid == 2)
      #expect(stored.number == 2)
      let liked = try await dflat.write(Post.self, Note.self) { txn in
        let found = try txn.fetch(for: Post.self).where(Post.likes > 1)
        #expect(found.map(\.number) == [2])
        let updated = try txn.update(found[0]) { $0.likes += 10 }
        #expect(updated.likes == 12 && updated._rowid == 2)
        #expect(try txn.fetch(for: Post.self).where(Post.likes == 12).count == 1)
        #expect(try txn.delete(post(1)))
        #expect(try !txn.delete(post(1)))
        #expect(try txn.upsert(post(2, likes: 5))._rowid == 2)
        #expect(try txn.upsert(post(3, likes: 6))._rowid == 3)
        return try txn.fetch(for: Post.self).all().map(\.likes)
      }
      #expect(liked == [5, 6])
      #expect(workspace.posts.all().map(\.likes) == [5, 6])
    }
  }

  private struct Refusal: Error, Equatable {}

  @Test(
    "An error that the closure throws rolls everything back and is rethrown",
    arguments: TestEngine.all)
  func rethrown(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1)])
      await #expect(throws: Refusal.self) {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.insert(post(2))
          throw Refusal()
        }
      }
      #expect(workspace.posts.all().map(\.number) == [1])
      // A rejected change whose error the closure catches does not end the transaction.
      let caught = try await workspace.dflat.write(Post.self) { txn -> StorageError? in
        try txn.insert(post(2))
        do { try txn.insert(post(1)) } catch let error as StorageError { return error }
        return nil
      }
      #expect(caught?.cause == .alreadyExists)
      #expect(caught?.table == "blog__post_v1_0")
      #expect(caught?.key == "site: \"s\", number: 1")
      #expect(workspace.posts.all().map(\.number) == [1, 2])
      await #expect {
        try await workspace.dflat.write(Post.self) { try $0.insert(post(1)) }
      } throws: {
        ($0 as? StorageError)?.cause == .alreadyExists
      }
      await #expect {
        try await workspace.dflat.write(Post.self) { txn in
          try txn.update(post(9)) { $0.likes = 1 }
        }
      } throws: {
        let error = $0 as? StorageError
        return error?.cause == .missing && error?.key == #"site: "s", number: 9"#
      }
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("A task that is cancelled before the commit stores nothing", arguments: TestEngine.all)
  func cancelled(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([])
      let hasBegun = DispatchSemaphore(value: 0)
      let isInside = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let dflat = workspace.dflat
      let task = Task {
        hasBegun.signal()
        try await dflat.write(Post.self) { txn in
          try txn.insert(post(1))
          isInside.signal()
          mayGoOn.expect("that it may go on")
        }
      }
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          hasBegun.waitForTurn()
          isInside.expect("that it is inside")
          task.cancel()
          mayGoOn.signal()
          continuation.resume()
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(workspace.posts.all().isEmpty)
      // A task that is cancelled before its write begins does not run it.
      let didRun = Mutex(false)
      let early = Task {
        while !Task.isCancelled { await Task.yield() }
        try await dflat.write(Post.self) { _ in didRun.withLock { $0 = true } }
      }
      early.cancel()
      await #expect(throws: CancellationError.self) { try await early.value }
      #expect(didRun.withLock { !$0 })
    }
  }

  /// Lets a context escape from its closure, as a program in an older language mode can.
  private final class Escape: @unchecked Sendable {
    var write: WriteContext?
    var read: ReadContext?
    var query: ThrowingQueryBuilder<Post>?
  }

  @Test("An update inside another one of the same object is kept", arguments: TestEngine.all)
  func nestedUpdates(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 1)])
      try await workspace.dflat.write(Post.self) { txn in
        try txn.update(post(1)) { outer in
          try txn.update(post(1)) { $0.likes = 99 }
          outer.isPinned = true
        }
        _ = try txn.update(where: Post.number == 2) { outer in
          try txn.update(post(2)) { $0.likes = 98 }
          outer.isPinned = true
        }
      }
      let posts = workspace.posts.all(orderBy: [Post.number.ascending])
      #expect(posts.map(\.likes) == [99, 98] && posts.allSatisfy { $0.isPinned })
    }
  }

  @Test("Misuse is a typed error", arguments: TestEngine.all)
  func misuse(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.store([post(1)])
      await #expect(throws: WorkspaceError.noTypes) { try await dflat.write { _ in } }
      await #expect(throws: WorkspaceError.undeclaredType("Note")) {
        try await dflat.write(Post.self) { _ = try $0.fetch(for: Note.self) }
      }
      let escape = Escape()
      try await dflat.write(Post.self) { txn in
        escape.write = txn
        escape.query = try txn.fetch(for: Post.self)
      }
      try await dflat.read { escape.read = $0 }
      #expect(throws: WorkspaceError.escapedContext) { try escape.write?.insert(post(2)) }
      #expect(throws: WorkspaceError.escapedContext) { _ = try escape.read?.fetch(for: Post.self) }
      #expect(throws: WorkspaceError.escapedContext) { _ = try escape.query?.all() }

      // A closure that waits for a transaction of its own type would deadlock. This one waits for a
      // task, so it must not run on the thread of one.
      let nested = try await dflat.write(Post.self, Note.self, attempts: 1) { _ -> (any Error)? in
        let hasBegun = DispatchSemaphore(value: 0)
        let done = DispatchSemaphore(value: 0)
        let failure = Mutex<(any Error)?>(nil)
        Task {
          hasBegun.signal()
          do { try await dflat.write(Note.self) { _ in } } catch {
            failure.withLock { $0 = error }
          }
          done.signal()
        }
        hasBegun.waitForTurn()
        done.expect("the completion")
        return failure.withLock { $0 }
      }
      #expect(nested as? WorkspaceError == .nestedWrite)

      await dflat.shutdown()
      await #expect(throws: WorkspaceError.shutDown) { try await dflat.write(Post.self) { _ in } }
      await #expect(throws: WorkspaceError.shutDown) { try await dflat.read { _ in } }
    }
  }

  @Test(
    "read sees one state, joins an outer snapshot or transaction, and throws its closure's errors",
    arguments: TestEngine.all)
  func reading(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(1, likes: 1)])
      let dflat = workspace.dflat
      let (before, after) = try await dflat.read { context in
        let before = try context.fetch(for: Post.self).all().count
        onAnotherThread { _ = try? workspace.store([post(2, likes: 1)]) }
        return (before, try context.fetch(for: Post.self).where(Post.likes == 1).count)
      }
      #expect(before == 1 && after == 1)
      await #expect(throws: Refusal.self) { try await dflat.read { _ in throw Refusal() } }
      let count = try await dflat.read { try $0.fetch(for: Post.self).all().count }
      #expect(count == 2)
      try await dflat.write(Post.self) { txn in
        try txn.insert(post(3))
        let inside = try dflat.read { try $0.fetch(for: Post.self).all().count }
        #expect(inside == 3)
      }
    }
  }
}
