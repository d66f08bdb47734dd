// Files that are not in WAL mode yet, because another program has written them, or because they
// were closed with `.truncate`. The first transaction switches the mode, for which it needs
// exclusive access.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Files with a rollback journal")
struct RollbackJournalTests {
  /// Calls `body` with a new workspace on a file of 300 posts in DELETE mode.
  private func withFile(_ sql: String = "", _ body: (TemporaryFile) throws -> Void) throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store((0..<300).map { post($0, likes: $0, link: "l\($0)") })
      workspace.dflat.shutdown(flags: .truncate)
      if !sql.isEmpty { #expect(try workspace.sqlite3(sql) == "") }
      #expect(try workspace.sqlite3("PRAGMA journal_mode") == "delete")
      let again = TemporaryFile(path: workspace.path) { $0.busyTimeout = .seconds(100) }
      try body(again)
      again.dflat.shutdown()
      let errors = again.takeErrors()
      #expect(errors.isEmpty, "\(errors)")
    }
  }

  @Test(
    "Queries and the first transaction do not deadlock",
    arguments: ["", "DROP TABLE blog__post_v1_0__f10"])
  func firstTransaction(sql: String) throws {
    for round in 0..<(isLongRun ? 50 : 12) {
      try withFile(sql) { workspace in
        let isOver = Atomic(false)
        let wrong = Atomic(0)
        let queries = Atomic(0)
        let readers = DispatchGroup()
        let began = ContinuousClock.now
        for _ in 0..<3 {
          readers.enter()
          Thread.detachNewThread {
            while !isOver.load(ordering: .relaxed) {
              let found = workspace.posts.where(
                Post.likes >= 100 && Post.attachment._type == 1)
              if found.count < 200 { wrong.add(1, ordering: .relaxed) }
              queries.add(1, ordering: .relaxed)
            }
            readers.leave()
          }
        }
        // While they are at different points of their work.
        let isReading = eventually { queries.load(ordering: .relaxed) >= round }
        let outcome = try? workspace.write([Post.self]) { txn in
          try txn.submit(Blog.PostChangeRequest.creationRequest(post(1000, likes: 1000, link: "")))
        }
        let before = queries.load(ordering: .relaxed)
        let goesOn = eventually { queries.load(ordering: .relaxed) > before + 10 }
        isOver.store(true, ordering: .relaxed)
        readers.wait()
        #expect(isReading && goesOn)
        #expect(outcome?.isCommitted == true && wrong.load(ordering: .relaxed) == 0)
        try #require(ContinuousClock.now - began < .seconds(50), "somebody waited in vain")
      }
    }
  }

  @Test("Queries do not wait for a transaction that waits for another program's query")
  func waitingTransaction() throws {
    try withFile { workspace in
      let foreign = try Connection(path: workspace.path)
      try foreign.begin(.deferred)
      #expect(try foreign.value("SELECT count(*) FROM blog__post_v1_0") == 300)
      #expect(workspace.posts.all().count == 300)
      let outcomes = Log<Bool>()
      workspace.dflat.performChanges(
        [Post.self],
        changesHandler: { $0.try(submit: Blog.PostChangeRequest.creationRequest(post(1000))) },
        completionHandler: { outcomes.add($0) })
      for _ in 0..<500 where outcomes.events.isEmpty {
        #expect(workspace.posts.where(Post.likes >= 100).count == 200)
      }
      #expect(outcomes.events.isEmpty, "a query has waited until the transaction gave up")
      try foreign.rollback()
      outcomes.wait()
      #expect(outcomes.events == [true])
      try foreign.close()
    }
  }

  @Test("A snapshot may wait for a transaction")
  func snapshot() throws {
    try withFile { workspace in
      workspace.dflat.fetchWithinASnapshot {
        #expect(workspace.posts.all().count == 300)
        let outcome = try? workspace.write([Post.self]) { txn in
          try txn.submit(Blog.PostChangeRequest.creationRequest(post(1000)))
        }
        #expect(outcome?.isCommitted == true)
        #expect(workspace.posts.all().count == 300)
      }
      #expect(workspace.posts.all().count == 301)
    }
  }

  @Test("Fetches do not change the file, nor do snapshots where nothing can be written")
  func reading() throws {
    try withFile { workspace in
      let bytes = try Data(contentsOf: URL(fileURLWithPath: workspace.path))
      #expect(workspace.posts.where(Post.likes >= 100).count == 200)
      let reading = TemporaryFile(path: workspace.path) { $0.isReadOnly = true }
      reading.dflat.fetchWithinASnapshot { #expect(reading.posts.all().count == 300) }
      reading.dflat.shutdown()
      #expect(reading.takeErrors().isEmpty)
      #expect(try Data(contentsOf: URL(fileURLWithPath: workspace.path)) == bytes)
    }
  }

  @Test("A snapshot of a file that another program reads is a single state, too")
  func foreignReader() throws {
    try withFile { workspace in
      let foreign = try Connection(path: workspace.path)
      try foreign.begin(.deferred)
      #expect(try foreign.value("SELECT count(*) FROM blog__post_v1_0") == 300)
      workspace.dflat.fetchWithinASnapshot { #expect(workspace.posts.all().count == 300) }
      try foreign.rollback()
      try foreign.close()
    }
  }
}
