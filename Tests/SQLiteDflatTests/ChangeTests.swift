// The effects of requests, including refused ones.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Changes")
struct ChangeTests {
  @Test("A transaction that SQLite rolled back because of a failed read is not committed in part")
  func readingGivesUp() throws {
    try withTemporaryFile { workspace in
      let link = String(repeating: "x", count: 100)
      try workspace.store((0..<2000).map { post($0, link: link) })
      // A change of the file's structure invalidates the writer's cache.
      try workspace.tamper("CREATE TABLE other (a)")
      let outcome = try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(5000)))
        // A truncated log makes reading fail; once restored, the file is as before.
        let log = URL(fileURLWithPath: workspace.path + "-wal")
        let bytes = try Data(contentsOf: log)
        let file = try FileHandle(forUpdating: log)
        try file.truncate(atOffset: 0)
        #expect(workspace.posts.all().isEmpty)
        try file.write(contentsOf: bytes)
        try file.close()
        #expect(throws: TransactionError.aborted) {
          try txn.submit(Blog.PostChangeRequest.creationRequest(post(5001)))
        }
      }
      #expect(!outcome.isCommitted)
      let error = workspace.takeErrors().first?.underlying as? SQLiteError
      // SQLITE_IOERR_SHORT_READ, whose reason is the log.
      #expect(error?.code == .fileReplaced && error?.extendedCode == 522)
      #expect(workspace.posts.all().count == 2000)
      try workspace.store([post(6000)])
      #expect(workspace.posts.where(Post.number >= 5000).map(\.number) == [6000])
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test(
    "An object with such a key from another program can be changed, given a key, and removed")
  func unknownKeyFromElsewhere() throws {
    try withTemporaryFile { workspace in
      let slots = workspace.dflat.fetch(for: Kit.Slot.self)
      try workspace.write([Kit.Slot.self]) { txn in
        for page in [1, 2] as [UInt64] {
          let slot = Kit.Slot(row: 1, level: 0, side: .left, isOpen: true, page: page)
          _ = try txn.insert(Kit.SlotChangeRequest.creationRequest(slot))
        }
      }
      let bytes = Kit.Slot(row: 1, level: .nan, side: .left, isOpen: true, page: 1).toData()
      try workspace.tamper(
        "UPDATE kit__slot SET __pk1 = NULL, __pk4 = 1, p = ?", [.blob([UInt8](bytes))])
      try workspace.write([Kit.Slot.self]) { txn in
        let stored = slots.all()
        let first = try #require(Kit.SlotChangeRequest.changeRequest(stored[0]))
        first.label = "one"
        try txn.submit(first)
        let second = try #require(Kit.SlotChangeRequest.changeRequest(stored[1]))
        second.level = 7
        try txn.submit(second)
      }
      #expect(slots.all().map(\.label) == ["one", nil])
      #expect(slots.where(Kit.Slot.level == 7).count == 1)
      try workspace.write([Kit.Slot.self]) { txn in
        let request = try #require(Kit.SlotChangeRequest.deletionRequest(slots.all()[0]))
        try txn.submit(request)
      }
      #expect(slots.all().map(\.level) == [7])
    }
  }

  @Test("A request does not overwrite a later change by another connection")
  func foreignChange() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1, likes: 1)])
      let second = workspace.secondWorkspace()
      let outcome = try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(post(1)))
        onAnotherThread {
          let done = DispatchSemaphore(value: 0)
          second.dflat.performChanges(
            [Post.self],
            changesHandler: { txn in
              let other = Blog.PostChangeRequest.changeRequest(post(1))
              other?.likes = 7
              if let other { txn.try(submit: other) }
            }
          ) { _ in done.signal() }
          done.expect("the completion")
        }
        request.isPinned = true
        #expect(throws: TransactionError.others) { try txn.submit(request) }
      }
      #expect(!outcome.isCommitted)
      #expect(workspace.posts.all().map(\.likes) == [7])
      #expect(workspace.takeErrors().map(\.cause) == [.conflict])
      second.dflat.shutdown()
    }
  }
}
