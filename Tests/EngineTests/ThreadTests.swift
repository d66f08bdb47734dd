// Many threads at once.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

@Suite("Threads")
struct ThreadTests {
  @Test(
    "Readers on many threads see whole transactions while other threads write",
    arguments: TestEngine.all)
  func readersAndWriters(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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

  @Test(
    "A transaction is accepted before a shutdown or rejected, never in between",
    arguments: TestEngine.all)
  func shutdownInBetween(engine: TestEngine) throws {
    for _ in 0..<5 {
      try withTemporaryWorkspace(engine) { workspace in
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
        #expect(eventually { answers.touches == 80 })
      }
    }
  }
}
