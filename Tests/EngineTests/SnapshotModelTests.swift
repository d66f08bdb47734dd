// Snapshots beside random transactions: what a snapshot shows is the state at its first fetch, and
// afterwards the workspace shows the newest one. The model is a dictionary from numbers to posts.

import Dflat
import DflatTestSupport
import Dispatch
import Testing

@Suite("Snapshots and the model")
struct SnapshotModelTests {
  private typealias Model = [Int32: Post]

  /// What the model expects of each way to read, and what a workspace gives.
  private func expectState(_ workspace: TemporaryWorkspace, _ model: Model, _ seed: UInt64) {
    func check(_ found: FetchedResult<Post>, _ expected: [Post], _ what: String) {
      #expect(found.underlyingArray == expected, "DFLAT_SEED=\(seed), \(what)")
    }
    let posts = workspace.posts
    let sorted = model.values.sorted { $0.number < $1.number }
    check(posts.all(orderBy: [Post.number.ascending]), sorted, "all")
    check(
      posts.where(Post.likes > 4, orderBy: [Post.number.descending]),
      sorted.reversed().filter { $0.likes > 4 }, "by an index")
    check(
      posts.where(Post.isPinned, limit: .limit(3), orderBy: [Post.number.ascending]),
      Array(sorted.filter(\.isPinned).prefix(3)), "by a field, with a limit")
    for number: Int32 in 0..<12 {
      #expect(
        workspace.dflat.find(Post.self, ("s", number)) == model[number],
        "DFLAT_SEED=\(seed), by key")
    }
  }

  /// Runs a random transaction, which may be aborted.
  private func change(
    _ workspace: TemporaryWorkspace, _ model: inout Model, _ random: inout SeededGenerator
  ) throws {
    let isAborted = random.oneIn(4)
    let numbers = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      Int32.random(in: 0..<12, using: &random)
    }
    let likes = Int32.random(in: 0..<10, using: &random)
    var generator = random
    let before = model
    let outcome = try workspace.write([Post.self]) { [before] txn -> Model in
      var after = before
      for number in numbers {
        let new = Post(site: "s", number: number, likes: likes, isPinned: generator.oneIn(2))
        switch (after[number], generator.oneIn(2)) {
        case (nil, _):
          try txn.submit(Blog.PostChangeRequest.creationRequest(new))
          after[number] = new
        case (_?, true):
          let request = try #require(Blog.PostChangeRequest.deletionRequest(new))
          try txn.submit(request)
          after[number] = nil
        case (_?, false):
          try txn.submit(Blog.PostChangeRequest.upsertRequest(new))
          after[number] = new
        }
      }
      if isAborted { txn.abort() }
      return after
    }
    random = generator
    #expect(outcome.isCommitted == !isAborted)
    if let after = outcome.result, outcome.isCommitted { model = after }
  }

  @Test(
    "A snapshot shows the state of its first fetch, whatever is committed or aborted after it",
    arguments: TestEngine.all)
  func snapshots(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 100 : 5) {
        try withTemporaryWorkspace(engine) { workspace in
          var model: Model = [:]
          for _ in 0..<6 {
            try change(workspace, &model, &random)
            let inside = workspace.dflat.fetchWithinASnapshot {
              Result {
                let state = model
                expectState(workspace, state, random.seed)
                for _ in 0..<4 {
                  try change(workspace, &model, &random)
                  expectState(workspace, state, random.seed)
                }
              }
            }
            try inside.get()
            expectState(workspace, model, random.seed)
          }
        }
      }
    }
  }

  @Test(
    "Inside a transaction its own changes are read, outside of it those of the commit",
    arguments: TestEngine.all)
  func ownChanges(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 200 : 10) {
        try withTemporaryWorkspace(engine) { workspace in
          var model: Model = [:]
          for _ in 0..<5 {
            let numbers = (0..<6).map { _ in Int32.random(in: 0..<12, using: &random) }
            let isAborted = random.oneIn(3)
            let before = model
            let outcome = try workspace.write([Post.self]) { txn -> Model in
              var after = before
              for number in numbers {
                if after[number] == nil {
                  let new = Post(site: "s", number: number, likes: number)
                  try txn.submit(Blog.PostChangeRequest.creationRequest(new))
                  after[number] = new
                } else {
                  let request = try #require(
                    Blog.PostChangeRequest.deletionRequest(Post(site: "s", number: number)))
                  try txn.submit(request)
                  after[number] = nil
                }
                expectState(workspace, after, 0)
              }
              if isAborted { txn.abort() }
              return after
            }
            if let after = outcome.result, outcome.isCommitted { model = after }
            #expect(outcome.isCommitted == !isAborted)
            expectState(workspace, model, random.seed)
          }
        }
      }
    }
  }
}
