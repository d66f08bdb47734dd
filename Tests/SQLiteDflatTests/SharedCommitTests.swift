// Queued transactions share a commit, which has no visible effect except speed.

import Dflat
import DflatTestSupport
import Dispatch
import SQLiteAccess
import SQLiteDflat
import Platform
import Testing

@Suite("Shared commits")
struct SharedCommitTests {
  private func insert(_ number: Int, _ txn: any TransactionContext) {
    txn.try(submit: Blog.PostChangeRequest.creationRequest(post(Int32(number))))
  }

  @Test(
    "Each transaction sees earlier ones, committed or not; others see them only when committed")
  func visibility() throws {
    try withTemporaryFile { workspace in
      try workspace.store([post(100)])
      let outside = try workspace.foreignConnection()
      workspace.together(20) { number, txn in
        #expect(workspace.posts.all().count == number + 1)
        insert(number, txn)
        #expect(workspace.posts.where(Post.number == Int32(number)).count == 1)
      } _: { number, isCommitted in
        #expect(isCommitted)
        // A transaction that was reported as committed is visible to every reader.
        #expect(workspace.posts.where(Post.number == Int32(number)).count == 1)
      }
      #expect(try outside.value("SELECT count(*) FROM blog__post_v1_0") == 21)
    }
  }
}
