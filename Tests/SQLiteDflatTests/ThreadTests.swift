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
  @Test("Readers on many threads see whole transactions while others write")
  func readersAndWriters() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<20).map { post($0, likes: 0) })
      let writes: Int32 = isLongRun ? 500 : 40
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        if index == 0 {
          for number in 1...writes {
            _ = try? workspace.write([Post.self]) { txn in
              for stored in workspace.posts.all() {
                let request = try #require(Blog.PostChangeRequest.changeRequest(stored))
                request.likes = number
                try txn.submit(request)
              }
            }
          }
          return
        }
        for round in 0..<Int(writes) * 2 {
          switch round % 4 {
          case 0: #expect(Set(workspace.posts.all().map(\.likes)).count == 1)
          case 1:
            workspace.dflat.fetchWithinASnapshot {
              let likes = workspace.posts.all()[0].likes
              #expect(workspace.posts.where(Post.likes == likes).count == 20)
              #expect(workspace.posts.where(Post.likes != likes).isEmpty)
            }
          case 2:
            let found = workspace.posts.where(Post.likes >= 0, orderBy: [Post.likes.descending])
            #expect(found.count == 20)
            #expect(Set(found.map(\.likes)).count == 1)
          default: #expect(workspace.posts.where(Post.site == "s" && Post.number == 3).count == 1)
          }
        }
      }
      #expect(workspace.posts.all().allSatisfy { $0.likes == writes })
      #expect(try workspace.faults().isEmpty)
    }
  }

  @Test("Calls from many threads are all run, each once, and shutdown waits for them")
  func calls() throws {
    try withTemporaryWorkspace(.file) { workspace in
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

  @Test("A transaction is accepted before a shutdown or refused, never in between")
  func shutdownInBetween() throws {
    for _ in 0..<5 {
      try withTemporaryWorkspace { workspace in
        let answers = ErrorBox()
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
          if thread == 3 { workspace.dflat.shutdown() }
          for _ in 0..<20 {
            workspace.dflat.performChanges([Note.self], changesHandler: { _ in }) { _ in
              answers.touch()
            }
          }
        }
        workspace.dflat.shutdown()
        for _ in 0..<500 where answers.touches < 80 { usleep(1000) }
        #expect(answers.touches == 80)
      }
    }
  }

  @Test("A transaction reads even while snapshots hold all readers")
  func snapshotsHoldAllReaders() throws {
    try withTemporaryWorkspace { workspace in
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
      #expect(done.wait(timeout: .now() + 60) == .success)
      #expect(found.withLock { $0 } == 1)
      for _ in 0..<count { mayEnd.signal() }
      for _ in 0..<count { ended.wait() }
    }
  }
}
