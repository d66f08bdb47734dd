// Opening, snapshots, shutdown, and the order of work.

import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@testable import Dflat

@Suite("Lifetime of a workspace")
struct LifetimeTests {
  @Test("Opening and fetching create nothing; the first transaction creates the file")
  func createsNothing() throws {
    try withTemporaryFile { workspace in
      #expect(workspace.posts.all().isEmpty)
      #expect(workspace.posts.where(Post.likes > 3).isEmpty)
      #expect(!workspace.fileExists())
      try workspace.store([post(1)])
      #expect(workspace.fileExists())
      #expect(workspace.posts.all().count == 1)
    }
  }

  @Test("A transaction that submits nothing completes with true, and creates no tables")
  func emptyTransaction() throws {
    try withTemporaryFile { workspace in
      let outcome = try workspace.write([Post.self]) { _ in }
      #expect(outcome.isCommitted)
      #expect(try workspace.sqlite3("SELECT count(*) FROM sqlite_master") == "0")
    }
  }

  @Test("If no file can be created, the handler does not run, and the reason is reported")
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

  @Test("Transactions that wait when the workspace is released still run; then the file is closed")
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

  @Test("What a program has got from a workspace works after that was released")
  func keptByQueries() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1), post(2)])
      workspace.dflat.dictionary["theme"] = "dark"
      workspace.dflat.dictionary.synchronize()
      let path = workspace.dflat.filePath
      // The only use of a workspace; nothing else keeps it.
      func again() -> SQLiteWorkspace { SQLiteWorkspace(filePath: path) }
      func posts() -> QueryBuilder<Post> { again().fetch(for: Post.self) }
      func query() -> ObjectQuery<Post> { again().query(Post.self).where(Post.number > 1) }
      func settings() -> any WorkspaceDictionary { again().dictionary }
      #expect(posts().all().count == 2)
      #expect(try query().count() == 1)
      #expect(try query().stream().map(\.number) == [2])
      #expect(settings()["theme"] == "dark")
    }
  }

  @Test("shutdown writes values of the dictionary that could not be written before")
  func pendingValues() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let late = TemporaryFile(path: workspace.path) { $0.busyTimeout = .milliseconds(1) }
      let other = try workspace.foreignConnection()
      try other.execute("BEGIN IMMEDIATE")
      late.dflat.dictionary["theme"] = "dark"
      var numbers = late.dflat.dictionary(namespace: "n")
      numbers["count"] = 3
      let isReported = eventually { !late.takeErrors().isEmpty }
      #expect(isReported)
      late.dflat.dictionary.synchronize()
      numbers.synchronize()
      try other.execute("ROLLBACK")
      late.dflat.shutdown()
      _ = late.takeErrors()
      #expect(workspace.dflat.dictionary["theme"] == "dark")
      #expect(workspace.dflat.dictionary(namespace: "n")["count"] == 3)
      try other.close()
    }
  }

  @Test("shutdown carries out its flags", arguments: [false, true])
  func flags(withOtherConnection: Bool) throws {
    try withTemporaryFile(.file) { workspace in
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
    "shutdown with .truncate keeps the log for other readers, and does not block their transactions"
  )
  func truncateBesideSnapshot() throws {
    try withTemporaryFile(.file, configure: { $0.busyTimeout = .seconds(100) }) { workspace in
      try workspace.store((0..<10).map { post($0) })
      let other = workspace.secondWorkspace()
      let closed = DispatchSemaphore(value: 0)
      let began = ContinuousClock.now
      var count: Int32 = 11
      other.dflat.fetchWithinASnapshot {
        #expect(other.posts.all().count == 10)
        // Otherwise the log contains nothing that the snapshot does not see.
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

  @Test("Two workspaces and an unfinished foreign reader use one file at the same time")
  func twoWorkspaces() throws {
    try withTemporaryFile { first in
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
}
