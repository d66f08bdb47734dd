// Tables of a transaction that is rolled back: the first transaction of a type creates them, and
// its rollback removes them.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import Testing

@Suite("Tables that are created and rolled back")
struct UndoneTableTests {
  @Test(
    "After the first transaction is rolled back requests find nothing, and there is no error",
    arguments: TestEngine.all)
  func undone(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let stale = try workspace.write([Post.self]) { txn in
        let stored = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1)))
        // Statements by key and by row stay prepared, and the tables that they read are rolled
        // back.
        _ = Blog.PostChangeRequest.upsertRequest(post(1))
        _ = Blog.PostChangeRequest.changeRequest(stored)
        txn.abort()
        return stored
      }.result
      let outcome = try workspace.write([Post.self, Note.self]) { txn in
        _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: 1)))
        #expect(Blog.PostChangeRequest.changeRequest(try #require(stale)) == nil)
        let request = Blog.PostChangeRequest.upsertRequest(post(1))
        guard case .inserted = try txn.submit(request) else {
          Issue.record("what was undone was found")
          return
        }
      }
      #expect(outcome.isCommitted)
      #expect(workspace.posts.all().map(\.number) == [1])
    }
  }

  @Test(
    "A fetch in parallel with the transaction that creates the tables has no error",
    arguments: TestEngine.all)
  func made(engine: TestEngine) throws {
    for _ in 0..<(isLongRun ? 40 : 10) {
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.write([Note.self]) { txn in
          _ = try txn.insert(NoteChangeRequest.creationRequest(Note(key: 1)))
        }
        let isDone = Atomic(false)
        let group = DispatchGroup()
        for _ in 0..<2 {
          group.enter()
          Thread {
            while !isDone.load(ordering: .relaxed) {
              _ = workspace.posts.where(Post.site == "s" && Post.number == 1)
            }
            group.leave()
          }.start()
        }
        try workspace.store([post(1)])
        isDone.store(true, ordering: .relaxed)
        group.wait()
      }
    }
  }
}
