// How queries are answered: by which index, in whose order, and how much is read.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Plans")
struct PlanTests {
  private let likes = "blog__post_v1_0__f10"

  @Test("A condition on an index is answered by it alone")
  func byIndex() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      let plan = try workspace.posts.explain(where: Post.likes > 5)
      #expect(plan.indexes == [likes])
      #expect(plan.rowByRow == nil)
      #expect(plan.plan.contains { $0.contains("index__\(likes)") })
      // What no index knows is checked row by row.
      let both = try workspace.posts.explain(where: Post.likes > 5 && Post.isPinned)
      #expect(both.indexes == [likes] && both.rowByRow != nil)
      let either = try workspace.posts.explain(where: Post.likes > 5 || Post.isPinned)
      #expect(either.indexes.isEmpty)
    }
  }

  @Test(
    "An index that is not complete is not used",
    arguments: [IndexState.missing, .emptied, .partial])
  func incomplete(state: IndexState) throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      var random = SeededGenerator(seed: 2)
      try state.impose(on: Post._schema, workspace.foreignConnection(), using: &random)
      #expect(try workspace.posts.explain(where: Post.likes > 5).indexes.isEmpty)
    }
  }

  @Test("The key is used for its fields, whatever the side tables are like")
  func byKey() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<50).map { post($0) })
      let plan = try workspace.posts.explain(where: Post.site == "s" && Post.number == 3)
      #expect(plan.indexes == ["__pk0", "__pk1"] && plan.rowByRow == nil)
      #expect(plan.plan.contains { $0.contains("sqlite_autoindex_blog__post_v1_0_1") })
    }
  }

  @Test("With a limit the index delivers the order")
  func orderByIndex() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<50).map { post($0, likes: $0 % 7) })
      let plan = try workspace.posts.explain(limit: .limit(3), orderBy: [Post.likes.descending])
      #expect(!plan.isSortedInMemory && plan.indexes == [likes])
      #expect(
        workspace.posts.all(limit: .limit(3), orderBy: [Post.likes.descending]).map(\.number)
          == [6, 13, 20])
    }
  }

  @Test("What no index can sort is sorted as a whole and then cut")
  func sortedThenCut() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Post.self]) { txn in
        for number in 0..<50 as Range<Int32> {
          _ = try txn.insert(
            Blog.PostChangeRequest.creationRequest(
              Post(site: "s", number: number, place: Blog.Place(lat: Double(number * 37 % 50)))))
        }
      }
      let found = workspace.posts.all(limit: .limit(4), orderBy: [Post.place.lat.descending])
      #expect(found.map { $0.place?.lat } == [49, 48, 47, 46])
    }
  }

  @Test("Reading stops when enough objects are there")
  func readingStops() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((1...50).map { post($0, likes: $0) })
      // Whoever reads one of these hears of it.
      try workspace.tamper("UPDATE blog__post_v1_0 SET p = x'00' WHERE rowid BETWEEN 11 AND 40")
      #expect(workspace.posts.all(limit: .limit(10)).count == 10)
      #expect(workspace.posts.where(Post.site == "s", limit: .limit(10)).count == 10)
      #expect(workspace.posts.where(!Post.isPinned, limit: .limit(10)).count == 10)
      #expect(workspace.posts.all(limit: .limit(10), orderBy: [Post.likes.ascending]).count == 10)
      #expect(workspace.posts.all(limit: .limit(10), orderBy: [Post.likes.descending]).count == 10)
      #expect(workspace.posts.all(limit: .limit(0)).isEmpty)
      #expect(workspace.posts.all(limit: .limit(-1)).isEmpty)
      #expect(workspace.takeErrors().isEmpty)
      #expect(workspace.posts.all(limit: .limit(11)).count == 11)
      #expect(workspace.takeErrors().count == 30)
    }
  }

  @Test("Conditions and lists of any length are answered", arguments: [10, 2_000])
  func longConditions(count: Int32) throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((0..<20).map { post($0, likes: $0) })
      let any = (0..<count).reduce(Post.likes < 0) { $0 || Post.likes == $1 * 2 }
      #expect(workspace.posts.where(any).count == 10)
      let all = (0..<count).reduce(Post.likes >= 0) { $0 && Post.likes != $1 * 2 + 100 }
      #expect(workspace.posts.where(all).count == 20)
      let long = Array(0..<(count * 200)).map { $0 * 2 }
      #expect(workspace.posts.where(Post.likes.in(long)).count == 10)
      #expect(workspace.posts.where(Post.number.in(long)).count == 10)
      #expect(workspace.posts.where(Post.number.notIn(long)).count == 10)
    }
  }

  @Test("A condition may be as long as it likes")
  func longCondition() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      var any = Post.likes == 1
      var all = Post.likes > 0
      for number in 0..<20_000 {
        any = any || Post.number == Int32(1_000 + number)
        all = all && Post.likes != Int32(100 + number)
      }
      #expect(workspace.posts.where(any).map(\.number) == [1])
      #expect(workspace.posts.where(all).map(\.number) == [1, 2, 3])
    }
  }

  @Test("A condition may be nested more deeply than SQLite's parser goes")
  func deepCondition() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      var nested = Post.likes == 1
      for number in 0..<50 {
        nested = Post.likes == Int32(100 + number) || (Post.likes < 3 && nested)
      }
      #expect(workspace.posts.where(nested).map(\.number) == [1])
    }
  }

  @Test("The order of a later field of the key is not SQLite's business")
  func laterKeyField() throws {
    try withTemporaryWorkspace { workspace in
      try workspace.store([post(3), post(1), post(2)])
      let order = [Post.number.ascending]
      #expect(try workspace.posts.explain(limit: .limit(2), orderBy: order).isSortedInMemory)
      #expect(workspace.posts.all(limit: .limit(2), orderBy: order).map(\.number) == [1, 2])
    }
  }

  @Test("A snapshot that began without a file stays without one")
  func snapshotWithoutFile() throws {
    try withTemporaryWorkspace { workspace in
      workspace.dflat.fetchWithinASnapshot {
        #expect(workspace.posts.all().isEmpty)
        onAnotherThread { #expect(throws: Never.self) { try workspace.store([post(1)]) } }
        #expect(workspace.posts.all().isEmpty)
      }
      #expect(workspace.posts.all().count == 1)
    }
  }
}
