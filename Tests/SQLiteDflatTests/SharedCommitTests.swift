// Transactions that wait in line share a commit, and nobody notices but by the speed.

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
    "Each transaction sees those before it, committed or not, and no one else sees them earlier")
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
        // What is told to be committed can be seen by anybody.
        #expect(workspace.posts.where(Post.number == Int32(number)).count == 1)
      }
      #expect(try outside.value("SELECT count(*) FROM blog__post_v1_0") == 21)
    }
  }
}
