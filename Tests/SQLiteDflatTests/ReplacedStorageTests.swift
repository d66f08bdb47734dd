// Objects that were read from another file than the one that a workspace has now.

import Dflat
import DflatTestSupport
import Foundation
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("Objects of a file that was replaced")
struct ReplacedStorageTests {
  @Test("A row id of a file that was replaced is not taken for that of an object in the other file")
  func rowIDsFollow() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store([post(1, likes: 1), post(2, likes: 2)])
      workspace.dflat.shutdown()
      let other = TemporaryFile(path: workspace.path + ".other")
      try other.store([post(3, likes: 3), post(2, likes: 7), post(4, likes: 4)])
      other.dflat.shutdown()
      let late = TemporaryFile(path: workspace.path)
      let posts = late.posts.all()
      #expect(rename(other.path, workspace.path) == 0)
      let outcome = try late.write([Post.self]) { txn in
        #expect(Blog.PostChangeRequest.deletionRequest(posts[0]) == nil)
        let request = try #require(Blog.PostChangeRequest.changeRequest(posts[1]))
        #expect(request.likes == 7)
        request.likes = 8
        try txn.submit(request)
      }
      #expect(outcome.isCommitted)
      #expect(late.posts.all().map(\.number) == [3, 2, 4])
      #expect(late.posts.all().map(\.likes) == [3, 8, 4])
      late.dflat.shutdown()
      #expect(late.takeErrors().isEmpty)
    }
  }

  @Test("Objects of a file that was deleted are found by their keys in the next one")
  func nextFile() throws {
    try withTemporaryFile(.file) { workspace in
      try workspace.store([post(1), post(2)])
      let posts = workspace.posts.all()
      workspace.dflat.shutdown()
      try FileManager.default.removeItem(atPath: workspace.path)
      let next = TemporaryFile(path: workspace.path)
      try next.store([post(2, likes: 2), post(1, likes: 1)])
      let found = try next.write([Post.self]) { _ in
        posts.map { Blog.PostChangeRequest.changeRequest($0)?.likes }
      }
      #expect(found.result == [1, 2])
      next.dflat.shutdown()
      #expect(next.takeErrors().isEmpty)
    }
  }
}
