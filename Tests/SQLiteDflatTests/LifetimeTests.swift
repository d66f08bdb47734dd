// Opening, snapshots, shutdown, and what runs when.

import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Synchronization
import Testing

@testable import Dflat

@Suite("Lifetime of a workspace")
struct LifetimeTests {
  @Test("Opening and fetching create nothing; the first transaction creates the file")
  func createsNothing() throws {
    try withTemporaryWorkspace { workspace in
      #expect(workspace.posts.all().isEmpty)
      #expect(workspace.posts.where(Post.likes > 3).isEmpty)
      #expect(!workspace.fileExists())
      try workspace.store([post(1)])
      #expect(workspace.fileExists())
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test("A transaction that submits nothing completes with true, and leaves no tables")
  func emptyTransaction() throws {
    try withTemporaryWorkspace { workspace in
      let outcome = try workspace.write([Post.self]) { _ in }
      #expect(outcome.isCommitted)
      #expect(try workspace.sqlite3("SELECT count(*) FROM sqlite_master") == "0")
    }
  }

  @Test("Where no file can be made, the handler does not run, and the reason is told")
  func cannotOpen() throws {
    let directory = try makeTemporaryDirectory()
    let dflat = SQLiteWorkspace(
      filePath: directory + "/missing/deeper/test.db", fileProtectionLevel: .noProtection)
    let told = ErrorBox()
    dflat.errorHandler = { told.add($0) }
    let done = DispatchSemaphore(value: 0)
    for _ in 0..<2 {
      dflat.performChanges([Post.self], changesHandler: { _ in Issue.record("the handler ran") }) {
        #expect(!$0)
        done.signal()
      }
      done.expect("the completion")
    }
    #expect(dflat.fetch(for: Post.self).all().isEmpty)
    #expect(told.count >= 2)
    dflat.shutdown()
  }

  @Test("A snapshot sees the state of its first fetch; nested ones join it")
  func snapshot() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1)])
      workspace.dflat.fetchWithinASnapshot {
        onAnotherThread { _ = try? workspace.store([post(2)]) }
        #expect(workspace.posts.all().count == 2, "the state is that of the first fetch")
        // A transaction commits meanwhile and stays invisible.
        _ = try? workspace.store([post(3)])
        #expect(workspace.posts.all().count == 2)
        workspace.dflat.fetchWithinASnapshot { #expect(workspace.posts.all().count == 2) }
        #expect(workspace.posts.where(Post.likes == 0).count == 2)
      }
      #expect(workspace.posts.all().count == 3)
    }
  }

  @Test("A snapshot or transaction that is running when shutdown comes goes on reading")
  func readingThroughShutdown() throws {
    try withTemporaryWorkspace { workspace in
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
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1)])
      let outcome = try workspace.write([Post.self]) { txn in
        workspace.dflat.shutdown {}
        #expect(workspace.posts.all().count == 1)
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        #expect(workspace.posts.all().count == 2)
      }
      #expect(outcome.isCommitted)
    }
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1)])
      workspace.dflat.fetchWithinASnapshot {
        workspace.dflat.shutdown {}
        // Until the shutdown has done all that does not wait for the snapshot: it begins when what was
        // accepted has ended, and has two steps.
        workspace.dflat._core.accepted.wait()
        for _ in 0..<2 { workspace.dflat._core.closing.sync {} }
        #expect(workspace.posts.all().count == 1, "the snapshot began before the shutdown")
      }
    }
  }

  @Test("After shutdown work is refused at once, and shutting down again completes")
  func afterShutdown() throws {
    try withTemporaryWorkspace { workspace in
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

  @Test("Transactions that wait when the workspace is released run; then the file is closed")
  func released() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/test.db"
    let done = DispatchGroup()
    let isReleased = DispatchSemaphore(value: 0)
    do {
      let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
      for number in 0..<20 as Range<Int32> {
        done.enter()
        dflat.performChanges(
          [Post.self],
          changesHandler: { txn in
            if number == 0 { isReleased.expect("the release of the workspace") }
            txn.try(submit: Blog.PostChangeRequest.creationRequest(post(number)))
          }
        ) {
          #expect($0)
          done.leave()
        }
      }
    }
    isReleased.signal()
    done.expect("the completion of all transactions")
    let isClosed = eventually { !FileManager.default.fileExists(atPath: path + "-wal") }
    #expect(isClosed, "the file was not closed")
    let again = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
    #expect(again.fetch(for: Post.self).all().count == 20)
    again.shutdown()
  }

  @Test("shutdown carries its flags out", arguments: [false, true])
  func flags(withOtherConnection: Bool) throws {
    try withTemporaryWorkspace(.file) { workspace in
      try workspace.store(
        (0..<300).map { post($0, photo: String(repeating: "x", count: 500) + "\($0)") })
      try workspace.remove(Array(0..<299))
      let other = withOtherConnection ? try workspace.foreignConnection() : nil
      _ = try other?.rows("SELECT count(*) FROM blog__post_v1_0")
      workspace.dflat.shutdown(flags: [.vacuum, .truncate])
      let mode = try workspace.sqlite3("PRAGMA journal_mode")
      #expect(mode == (withOtherConnection ? "wal" : "delete"))
      if !withOtherConnection {
        #expect(!workspace.fileExists("-wal") && !workspace.fileExists("-shm"))
      }
      #expect(try workspace.sqlite3("PRAGMA freelist_count") == "0")
      #expect(try workspace.sqlite3("PRAGMA auto_vacuum") == "2")
      #expect(try workspace.sqlite3("PRAGMA integrity_check") == "ok")
      try other?.close()
    }
  }

  @Test(
    "shutdown with .truncate leaves the log to others who read, and does not hold up their transactions"
  )
  func truncateBesideSnapshot() throws {
    try withTemporaryWorkspace(.file, configure: { $0.busyTimeout = .seconds(100) }) { workspace in
      try workspace.store((0..<10).map { post($0) })
      let other = workspace.secondWorkspace()
      let closed = DispatchSemaphore(value: 0)
      let began = ContinuousClock.now
      var count: Int32 = 11
      other.dflat.fetchWithinASnapshot {
        #expect(other.posts.all().count == 10)
        // Otherwise there is nothing in the log that the snapshot does not have.
        _ = try? other.store([post(10)])
        workspace.dflat.shutdown(flags: .truncate) { closed.signal() }
        // All the time until it has ended, and once more.
        var hasEnded = false
        while !hasEnded, .now - began < .seconds(50) {
          hasEnded = closed.wait(timeout: .now()) == .success
          #expect((try? other.store([post(count)]))?.count == 1)
          count += 1
        }
        #expect(hasEnded && other.posts.all().count == 10)
      }
      #expect(ContinuousClock.now - began < .seconds(50))
      #expect(other.posts.all().count == Int(count))
      #expect(try workspace.sqlite3("PRAGMA journal_mode") == "wal")
      other.dflat.shutdown()
      #expect(other.takeErrors().isEmpty)
    }
  }

  @Test("Handlers run on the target queue, in the order of the calls, serial or not")
  func targetQueue() throws {
    for attributes in [[], [.concurrent]] as [DispatchQueue.Attributes] {
      let queue = DispatchQueue(label: "target", attributes: attributes)
      let key = DispatchSpecificKey<Int>()
      queue.setSpecific(key: key, value: 7)
      try withTemporaryWorkspace(targetQueue: queue) { workspace in
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

  @Test("What handlers and completions have captured is let go of when all are told")
  func handlersAreLetGo() throws {
    try withTemporaryWorkspace { workspace in
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
        if gone.wait(timeout: .now() + 60) == .timedOut {
          Issue.record("\(number) of \(2 * count) were let go of")
          break
        }
      }
    }
  }

  @Test("Two workspaces and an unfinished foreign reader use one file at the same time")
  func twoWorkspaces() throws {
    try withTemporaryWorkspace { first in
      try first.store([post(1, likes: 1), post(2, likes: 2)])
      let foreign = try first.foreignConnection()
      let unfinished = try foreign.statement("SELECT rowid FROM blog__post_v1_0")
      #expect(try unfinished.step())
      let second = first.secondWorkspace()
      for number in 3..<20 as Range<Int32> {
        try (number % 2 == 0 ? first : second).store([
          post(number, likes: number, photo: "\(number)")
        ])
        #expect(throws: TransactionError.objectAlreadyExists) {
          try (number % 2 == 0 ? second : first).store([post(100, photo: "\(number)")])
        }
        #expect(first.posts.where(Post.likes > 1).count == Int(number) - 1)
        #expect(second.posts.where(Post.likes > 1).count == Int(number) - 1)
      }
      #expect(try first.faults().isEmpty)
      unfinished.reset()
      second.dflat.shutdown()
    }
  }

  @Test("Inside a transaction or snapshot another workspace reads its own file")
  func otherWorkspaceInside() throws {
    try withTemporaryWorkspace { first in
      try withTemporaryWorkspace { second in
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

  @Test("A query builder may be used never, once or many times")
  func builder() throws {
    try withTemporaryWorkspace { workspace in
      let builders = (0..<500).map { _ in workspace.posts }
      try workspace.store([post(1)])
      #expect(builders[0].all().count == 1)
      #expect(builders[0].where(Post.number == 1).count == 1)
    }
  }

  @Test("A fetched object carries the clock before its fetch; a stored one −1")
  func clock() throws {
    try withTemporaryWorkspace { workspace in
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

final class ErrorBox: Sendable {
  private let state = Mutex((errors: 0, touches: 0))
  var count: Int { state.withLock { $0.errors } }
  var touches: Int { state.withLock { $0.touches } }
  func add(_ error: any Error) { state.withLock { $0.errors += 1 } }
  func touch() { state.withLock { $0.touches += 1 } }
  func fail() { Issue.record("a handler ran that must not run") }
}

final class OrderBox: Sendable {
  private let state = Mutex<[Int]>([])
  var numbers: [Int] { state.withLock { $0 } }
  func add(_ number: Int) { state.withLock { $0.append(number) } }
}

/// Tells when nobody holds it any more.
private final class Farewell: Sendable {
  private let gone: DispatchSemaphore

  init(_ gone: DispatchSemaphore) { self.gone = gone }

  deinit { gone.signal() }
}
