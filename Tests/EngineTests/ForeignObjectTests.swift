// Objects of other workspaces, whose row ids mean nothing here, and objects of this workspace,
// which their row ids identify, whatever their keys are by now.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Objects of other workspaces")
struct ForeignObjectTests {
  /// Calls `body` with objects of another workspace, numbers 1 to 5, and with a workspace whose
  /// first rows are the objects 11 to 15, and whose last one is another object 1.
  private func withForeign(
    _ engine: TestEngine, _ body: ([Post], TemporaryWorkspace) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { other in
      let inserted = try other.store((1...5).map { post($0, likes: $0) })
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store((11...15).map { post($0, likes: $0) } + [post(1, likes: 100)])
        try body(inserted, workspace)
        try body(other.posts.all().underlyingArray, workspace)
      }
    }
  }

  /// Makes sure that the objects 11 to 15 are as they were, and returns the others.
  private func others(_ workspace: TemporaryWorkspace) throws -> [Post] {
    let own = (11...15).map { post($0, likes: $0) }
    let all = workspace.posts.all()
    #expect(all.filter { own.contains($0) }.count == own.count)
    let faults = try workspace.faults()
    #expect(faults == [] && workspace.takeErrors().isEmpty)
    return all.filter { !own.contains($0) }
  }

  @Test("Requests find the object with the same key, or none", arguments: TestEngine.all)
  func requests(engine: TestEngine) throws {
    try withForeign(engine) { foreign, workspace in
      let ours = try #require(workspace.dflat.find(Post.self, CompositeKey("s", 1)))
      try workspace.write([Post.self]) { txn in
        let change = try #require(Blog.PostChangeRequest.changeRequest(foreign[0]))
        #expect(change.number == 1 && change.likes == ours.likes)
        guard
          case .updated(let post) = try txn.submit(
            Blog.PostChangeRequest.upsertRequest(foreign[0]))
        else {
          Issue.record("the object with the same key was not updated")
          return
        }
        #expect(post._rowid == ours._rowid && post == foreign[0])
        #expect(Blog.PostChangeRequest.changeRequest(foreign[1]) == nil)
        #expect(Blog.PostChangeRequest.deletionRequest(foreign[2]) == nil)
        guard case .inserted = try txn.submit(Blog.PostChangeRequest.upsertRequest(foreign[3]))
        else {
          Issue.record("an object that was not stored here was found")
          return
        }
        let deletion = try #require(Blog.PostChangeRequest.deletionRequest(foreign[3]))
        try txn.submit(deletion)
      }
      #expect(try others(workspace) == [foreign[0]])
      try workspace.change(1) { $0.likes = 100 }
    }
  }

  @Test(
    "An object is found by its key, also if no object has its row id", arguments: TestEngine.all)
  func freeRowIDs(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { other in
      let foreign = try #require(try other.store((2...9).map { post($0) } + [post(1)]).last)
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(1, likes: 100)])
        let found = try workspace.write([Post.self]) { _ in
          Blog.PostChangeRequest.changeRequest(foreign)?.likes
        }
        #expect(found.result == 100)
        let change = try workspace.dflat.write(Post.self) { try $0.upsert(contentsOf: [foreign]) }
        #expect(change == BulkChange(updated: 1))
        #expect(
          workspace.posts.all().underlyingArray == [foreign] && workspace.takeErrors().isEmpty)
      }
    }
  }

  @Test("Objects of another workspace are stored by their keys", arguments: TestEngine.all)
  func bulk(engine: TestEngine) throws {
    try withForeign(engine) { foreign, workspace in
      let change = try workspace.dflat.write(Post.self) { try $0.upsert(contentsOf: foreign) }
      #expect(change == BulkChange(inserted: 4, updated: 1))
      #expect(try others(workspace).sorted { $0.number < $1.number } == foreign)
      try workspace.remove([2, 3, 4, 5])
      try workspace.change(1) { $0.likes = 100 }
    }
  }

  @Test("A subscription follows the object with the same key", arguments: TestEngine.all)
  func subscription(engine: TestEngine) throws {
    try withForeign(engine) { foreign, workspace in
      let likes = Log<Int32>()
      let deletions = Log<Int>()
      let subscriptions = [0, 1].map { place in
        workspace.dflat.subscribe(object: foreign[place]) { event in
          switch event {
          case .updated(let post):
            #expect(post.number == 1 && place == 0)
            likes.add(post.likes)
          case .deleted: deletions.add(place)
          }
        }
      }
      try workspace.change(11) { $0.likes = 50 }
      try workspace.change(11) { $0.likes = 11 }
      try workspace.change(1) { $0.likes = 101 }
      #expect(likes.events == [100, 101])
      // Nothing that is stored here has this key.
      #expect(deletions.events == [1])
      withExtendedLifetime(subscriptions) {}
      try workspace.change(1) { $0.likes = 100 }
    }
  }

  @Test("Live objects are those with the same keys", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withForeign(engine) { foreign, workspace in
      let objects = workspace.dflat.uniqued(Post.self, on: nil).objects(foreign)
      #expect(objects.map(\.number) == [1])
      #expect(objects.map(\.likes) == [100])
    }
  }

  @Test(
    "Requests that a transaction of another workspace has made find the object with the same key",
    arguments: TestEngine.all)
  func requestsOfOthers(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { other in
      try other.store([post(1), post(2)])
      try withTemporaryWorkspace(engine) { workspace in
        try workspace.store([post(11, likes: 11), post(12, likes: 12), post(1, likes: 100)])
        let outcome = try other.write([Post.self]) { _ in
          (
            Blog.PostChangeRequest.changeRequest(post(1)),
            Blog.PostChangeRequest.deletionRequest(post(1)),
            Blog.PostChangeRequest.deletionRequest(post(2))
          )
        }
        let requests = try #require(outcome.result)
        try workspace.write([Post.self]) { txn in
          let change = try #require(requests.0)
          change.likes = 7
          guard case .updated(let post) = try txn.submit(change) else {
            Issue.record("the object with the same key was not updated")
            return
          }
          #expect(post.number == 1 && post.likes == 7)
          try txn.submit(try #require(requests.1))
        }
        #expect(workspace.posts.all().map(\.likes) == [11, 12])
        try workspace.write([Post.self]) { txn in
          let deletion = try #require(requests.2)
          #expect(throws: TransactionError.others) { try txn.submit(deletion) }
        }
        #expect(workspace.takeErrors().map(\.cause) == [.missing])
        #expect(workspace.posts.all().map(\.likes) == [11, 12])
      }
    }
  }

  @Test(
    "However a program got an object of the workspace, its row id identifies it",
    arguments: TestEngine.all)
  func own(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      var objects: [(String, Post)] = []
      objects.append(("inserted", try workspace.store([post(1)])[0]))
      let delivered = Log<Post>()
      let subscriptions = [
        dflat.subscribe(object: post(1, likes: 9)) { event in
          if case .updated(let post) = event { delivered.add(post) }
        },
        dflat.subscribe(fetchedResult: workspace.posts.all()) { delivered.add($0[0]) },
        dflat.subscribe(fetchedResult: workspace.posts.where(Post.likes > 1000)) { _ in },
      ]
      let live = try #require(dflat.uniqued(Post.self, on: nil)[CompositeKey("s", 1)])
      guard case .updated(let updated) = try workspace.change(1, { $0.likes = 3 }),
        case .identity(let same) = try workspace.change(1, { $0.likes = 3 }),
        case .updated(let patched) = try workspace.change(1, { $0.likes = 4 })
      else {
        Issue.record("a change was none")
        return
      }
      objects += [("updated", updated), ("identity", same), ("patched", patched)]
      // The first event is what the subscription found.
      #expect(delivered.events.map(\.likes).sorted() == [0, 3, 3, 4, 4])
      objects += delivered.events.map { ("delivered", $0) }
      withExtendedLifetime(subscriptions) {}
      objects.append(("live", live.value))
      objects.append(("fetched", workspace.posts.all()[0]))
      objects.append(("found", try #require(dflat.find(Post.self, CompositeKey("s", 1)))))
      objects.append(("in a snapshot", dflat.fetchWithinASnapshot { workspace.posts.all()[0] }))
      let earlier = try workspace.write([Post.self]) { txn in
        let before = workspace.posts.all()[0]
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(post(2)))
        return [before, workspace.posts.all()[0]]
      }
      objects += try #require(earlier.result).map { ("in an earlier transaction", $0) }
      objects.append(("of a page", try dflat.query(Post.self).page(size: 1).objects[0]))
      for object in try dflat.query(Post.self).where(Post.number == 1).stream() {
        objects.append(("of a stream", object))
      }

      try workspace.change(1) { $0.number = 5 }
      // What the key would lead to.
      try workspace.store([post(1, likes: 100)])
      try workspace.write([Post.self]) { _ in
        for (origin, object) in objects {
          #expect(Blog.PostChangeRequest.changeRequest(object)?.number == 5, "\(origin)")
        }
      }
      for (origin, object) in objects {
        let event = Log<Int32>()
        let subscription = dflat.subscribe(object: object) {
          if case .updated(let post) = $0 { event.add(post.number) }
        }
        try workspace.write([Post.self]) { _ in }
        #expect(event.events == [5], "\(origin)")
        withExtendedLifetime(subscription) {}
      }
      #expect(
        dflat.uniqued(Post.self, on: nil).objects(objects.map(\.1)).allSatisfy { $0 === live })
    }
  }

  @Test("A related object is identified by its row id, too", arguments: TestEngine.all)
  func related(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "Ada"))
        try txn.insert(Story(id: 1, writer: "ada"))
      }
      let story = try dflat.query(Story.self).including(Story.writer).fetch()
      let writer = try #require(story[0].related)
      try dflat.write(Writer.self) { txn in
        try txn.update(writer) { $0.handle = "eve" }
        try txn.insert(Writer(handle: "ada", name: "another"))
      }
      try dflat.write(Writer.self) { txn in
        let found = try txn.update(writer) { $0.name = "Eve" }
        #expect(found.handle == "eve")
      }
      #expect(dflat.fetch(for: Writer.self).all().map(\.name) == ["Eve", "another"])
    }
  }
}
