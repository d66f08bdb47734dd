// Objects that were fetched in a snapshot are as old as the snapshot, whatever it was asked first.

import Dflat
import DflatTestSupport
import Testing

@Suite("The age of objects from a snapshot")
struct SnapshotAgeTests {
  /// The first question in a snapshot, which determines its state.
  private static let questions: [(name: String, ask: @Sendable (any Workspace) throws -> Void)] = [
    ("fetch", { _ = $0.fetch(for: Post.self).all() }),
    ("find", { _ = $0.find(Post.self, ("s", 99)) }),
    ("count", { _ = try $0.query(Post.self).count() }),
    ("exists", { _ = try $0.query(Post.self).exists() }),
    ("sum", { _ = try $0.query(Post.self).sum(Post.likes) }),
    ("values", { _ = try $0.query(Post.self).values(.count, .max(Post.likes)) }),
    ("select", { _ = try $0.query(Post.self).select(Post.likes) }),
    ("groups", { _ = try $0.query(Post.self).grouped(by: Post.likes, .count).fetch() }),
    ("explain", { _ = try $0.query(Post.self).explain() }),
    ("explain values", { _ = try $0.query(Post.self).explain(selecting: Post.likes) }),
    (
      "stream",
      {
        let posts = $0.query(Post.self).orderBy(Post.likes.ascending)
        for _ in try posts.stream(portion: 1) {}
      }
    ),
    ("dictionary", { _ = $0.dictionary["none", Int.self] }),
    ("keys", { _ = $0.dictionary.keys }),
  ]

  @Test(
    "They are not taken for current if they were changed after the snapshot's first question",
    arguments: TestEngine.all)
  func age(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      for (place, question) in Self.questions.enumerated() {
        let number = Int32(place)
        try workspace.store([post(number, likes: 1)])
        let stale = try dflat.fetchWithinASnapshot { () -> Result<FetchedResult<Post>, any Error> in
          Result {
            try question.ask(dflat)
            try workspace.change(number) { $0.likes = 100 }
            return workspace.posts.where(Post.number == number)
          }
        }.get()
        // What memory answers does not begin the snapshot.
        if stale.map(\.likes) == [100] { continue }
        let results = Log<[Int32]>()
        let objects = Log<Int32?>()
        let subscriptions = [
          dflat.subscribe(fetchedResult: stale) { results.add($0.map(\.likes)) },
          workspace.watch(stale[0], objects),
        ]
        try workspace.settle()
        #expect(results.events == [[100]] && objects.events == [100], "\(question.name)")
        try workspace.write([Post.self]) { txn in
          let request = try #require(Blog.PostChangeRequest.changeRequest(stale[0]))
          request.likes += 1
          try txn.submit(request)
        }
        let stored = try #require(dflat.find(Post.self, ("s", number)))
        #expect(stored.likes == 101, "\(question.name): a change was lost")
        for subscription in subscriptions { subscription.cancel() }
      }
    }
  }
}
