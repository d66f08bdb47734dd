// Many threads at once.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Threads")
struct ThreadTests {
  @Test("Calls from many threads all run once, and shutdown waits for them")
  func calls() throws {
    try withTemporaryFile(.file) { workspace in
      let answers = ErrorBox()
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for number in 0..<25 {
          workspace.dflat.performChanges(
            number % 2 == 0 ? [Post.self, Note.self] : [Note.self, Post.self],
            changesHandler: { txn in
              let number = Int32(thread * 100 + number)
              _ = txn.try(submit: Blog.PostChangeRequest.creationRequest(post(number)))
            },
            completionHandler: { success in
              #expect(success)
              answers.touch()
            })
        }
      }
      workspace.dflat.shutdown()
      #expect(answers.touches == 100)
      let again = workspace.secondWorkspace()
      #expect(again.posts.all().count == 100)
      again.dflat.shutdown()
    }
  }

  @Test("A transaction can read even while snapshots hold all readers")
  func snapshotsHoldAllReaders() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(1)])
      let opened = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let ended = DispatchSemaphore(value: 0)
      let count = ReaderPool.defaultLimit
      for _ in 0..<count {
        Thread.detachNewThread {
          workspace.dflat.fetchWithinASnapshot {
            #expect(workspace.posts.all().count == 1)
            opened.signal()
            mayEnd.wait()
          }
          ended.signal()
        }
      }
      for _ in 0..<count { opened.wait() }
      let done = DispatchSemaphore(value: 0)
      let found = Mutex(0)
      workspace.dflat.performChanges(
        [Post.self],
        changesHandler: { _ in
          let count = workspace.posts.all().count
          found.withLock { $0 = count }
        },
        completionHandler: { _ in done.signal() })
      done.expect("the end")
      #expect(found.withLock { $0 } == 1)
      for _ in 0..<count { mayEnd.signal() }
      for _ in 0..<count { ended.wait() }
    }
  }
}
