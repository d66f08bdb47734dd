// Fetching one object by its primary key, wherever a program may do so.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Fetching by key")
struct KeyFetchTests {
  private func found(
    _ workspace: TemporaryWorkspace, _ site: String, _ number: Int32, limit: Limit = .noLimit
  ) -> [Int32] {
    workspace.posts.where(Post.site == site && Post.number == number, limit: limit)
      .map(\.number)
  }

  @Test("Keys are compared byte by byte, short and long, empty and not ASCII")
  func keys() throws {
    try withTemporaryWorkspace { workspace in
      let sites = [
        "", "s", "caf\u{E9}", "cafe\u{301}", String(repeating: "long ", count: 20), "a\0b",
      ]
      try workspace.store(sites.enumerated().map { Post(site: $1, number: Int32($0)) })
      for (number, site) in sites.enumerated() {
        #expect(found(workspace, site, Int32(number)) == [Int32(number)])
        #expect(found(workspace, site, 100).isEmpty)
      }
      #expect(found(workspace, "caf\u{E9}", 3).isEmpty)
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("It counts objects by the limit, and minds the rest of a condition")
  func limits() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1, likes: 5)])
      #expect(found(workspace, "s", 1, limit: .limit(1)) == [1])
      #expect(found(workspace, "s", 1, limit: .limit(0)).isEmpty)
      #expect(found(workspace, "s", 1, limit: .limit(-1)).isEmpty)
      let isKey = Post.site == "s" && Post.number == 1
      #expect(workspace.posts.where(isKey && Post.likes == 5).count == 1)
      #expect(workspace.posts.where(isKey && Post.likes == 6).isEmpty)
      #expect(workspace.posts.where(isKey && Post.number == 2).isEmpty)
    }
  }

  @Test("It sees nothing without a file, a snapshot's state, a transaction's own changes")
  func states() throws {
    try withTemporaryWorkspace { workspace in
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { _ in }
      #expect(found(workspace, "s", 1).isEmpty)
      try workspace.write([Post.self]) { txn in
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(1)))
        #expect(found(workspace, "s", 1) == [1])
      }
      let stored = workspace.dflat.fetchWithinASnapshot {
        #expect(found(workspace, "s", 1) == [1])
        let stored = Result { try workspace.store([post(2)]) }
        #expect(found(workspace, "s", 2).isEmpty)
        return stored
      }
      _ = try stored.get()
      #expect(found(workspace, "s", 2) == [2])
      #expect(workspace.takeErrors().isEmpty)
    }
  }

  @Test("A damaged object is left out and reported")
  func damaged() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(1), post(2)])
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = zeroblob(length(p)) WHERE rowid = 2")
      #expect(found(workspace, "s", 1) == [1])
      #expect(found(workspace, "s", 2).isEmpty)
      let errors = workspace.takeErrors()
      #expect(errors.count == 1)
      #expect(
        errors.allSatisfy {
          $0.cause == .corruptRow && $0.table == "blog__post_v1_0" && $0.rowid == 2
        })
    }
  }
}
