// How queries are executed: by which index, in which order, and how much they read.

import Dflat
import DflatTestSupport
import Testing

@Suite("Plans")
struct PlanTests {
  private let likes = "blog__post_v1_0__f10"

  @Test(
    "A result that no index can sort is sorted as a whole and then cut", arguments: TestEngine.all)
  func sortedThenCut(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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

  @Test("Conditions and lists of any length are answered", arguments: TestEngine.all, [10, 2_000])
  func longConditions(engine: TestEngine, count: Int32) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((0..<20).map { post($0, likes: $0) })
      let any = (0..<count).reduce(Post.likes < 0) { $0 || Post.likes == $1 * 2 }
      #expect(workspace.posts.where(any).count == 10)
      let all = (0..<count).reduce(Post.likes >= 0) { $0 && Post.likes != $1 * 2 + 100 }
      #expect(workspace.posts.where(all).count == 20)
      let long = Array(0..<(count * 50)).map { $0 * 2 }
      #expect(workspace.posts.where(Post.likes.in(long)).count == 10)
      #expect(workspace.posts.where(Post.number.in(long)).count == 10)
      #expect(workspace.posts.where(Post.number.notIn(long)).count == 10)
    }
  }

  @Test("A condition may be of any length", arguments: TestEngine.all)
  func longCondition(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
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

  @Test(
    "A condition may be nested more deeply than SQLite's parser allows", arguments: TestEngine.all)
  func deepCondition(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...3).map { post($0, likes: $0) })
      var nested = Post.likes == 1
      for number in 0..<50 {
        nested = Post.likes == Int32(100 + number) || (Post.likes < 3 && nested)
      }
      #expect(workspace.posts.where(nested).map(\.number) == [1])
    }
  }

  @Test("SQLite is not used to sort by a later field of the key", arguments: TestEngine.all)
  func laterKeyField(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store([post(3), post(1), post(2)])
      let order = [Post.number.ascending]
      #expect(try workspace.posts.explain(limit: .limit(2), orderBy: order).isSortedInMemory)
      #expect(workspace.posts.all(limit: .limit(2), orderBy: order).map(\.number) == [1, 2])
    }
  }

  @Test("A snapshot that began without a file stays without one", arguments: TestEngine.all)
  func snapshotWithoutFile(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      workspace.dflat.fetchWithinASnapshot {
        #expect(workspace.posts.all().isEmpty)
        onAnotherThread { #expect(throws: Never.self) { try workspace.store([post(1)]) } }
        #expect(workspace.posts.all().isEmpty)
      }
      #expect(workspace.posts.all().count == 1)
    }
  }
}
