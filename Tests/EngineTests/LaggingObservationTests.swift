// What is observed while other connections change the same rows, and that was not noticed yet.
//
// Engines that no other connection can use run the same tests with one workspace. A server delivers
// what other connections do.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

extension TestEngine {
  fileprivate static let ofFiles = all.filter { $0.testDescription != "PostgreSQL" }
}

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Observing rows that other connections have changed", .endsSometime)
struct LaggingObservationTests {
  /// Runs `body` with two workspaces on the same data.
  private func withTwo(
    _ engine: TestEngine, _ body: (TemporaryWorkspace, any Workspace, any Workspace) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let other = workspace.reopened()
      try body(workspace, workspace.dflat, other.dflat)
      other.dflat.shutdown()
    }
  }

  /// The newest result of a query. It is there when a write has returned.
  final class Latest<Element: Atom>: Sendable {
    private let newest = Mutex<[Element]>([])
    private let subscription = Mutex<(any WorkspaceSubscription)?>(nil)

    init(_ query: ObjectQuery<Element>, in dflat: any Workspace) throws {
      let subscription = dflat.subscribe(query) { [weak self] result in
        self?.newest.withLock { $0 = Array(result) }
      }
      self.subscription.withLock { $0 = subscription }
      try dflat.write(Element.self) { _ in }
    }

    var objects: [Element] { newest.withLock(\.self) }
  }

  @Test("A changed object moves to where it belongs", arguments: TestEngine.ofFiles)
  func moved(engine: TestEngine) throws {
    // Windows of many rows are changed in another way than small ones.
    for count in [6, 100] as [Int32] {
      try withTwo(engine) { workspace, dflat, other in
        try workspace.store((1...count).map { post($0, likes: $0) })
        let query = dflat.query(Post.self).orderBy(Post.likes.ascending)
        let all = try Latest(query, in: dflat)
        let first = try Latest(query.limit(5), in: dflat)
        func expectCurrent(_ line: Int = #line) throws {
          #expect(try all.objects.map(\.number) == query.fetch().map(\.number), "line \(line)")
          #expect(
            try first.objects.map(\.number) == query.limit(5).fetch().map(\.number), "line \(line)")
        }
        try other.write(Post.self) { try $0.update(post(3)) { $0.likes = 0 } }
        try dflat.write(Post.self) { try $0.update(post(3)) { $0.isPinned = true } }
        try expectCurrent()
        try dflat.write(Post.self) { try $0.insert(post(1000, likes: 2)) }
        try expectCurrent()
        try other.write(Post.self) { try $0.update(post(4)) { $0.likes = 50 } }
        try dflat.write(Post.self) { txn in
          try txn.update(post(4)) { $0.likes = 3 }
          try txn.update(post(3)) { $0.likes = 6 }
        }
        try expectCurrent()
      }
    }
  }

  @Test("A deleted object leaves limited results, too", arguments: TestEngine.ofFiles)
  func deleted(engine: TestEngine) throws {
    try withTwo(engine) { workspace, dflat, other in
      try workspace.store((1...100).map { post($0, likes: $0) })
      let query = dflat.query(Post.self).orderBy(Post.likes.ascending).limit(5)
      let first = try Latest(query, in: dflat)
      try other.write(Post.self) { try $0.update(post(3)) { $0.likes = 50 } }
      try dflat.write(Post.self) { _ = try $0.delete(post(3)) }
      #expect(first.objects.map(\.number) == [1, 2, 4, 5, 6])
    }
  }

  @Test(
    "An object of a result leaves it with its next change, though another connection has made it not match",
    arguments: TestEngine.ofFiles)
  func unmatched(engine: TestEngine) throws {
    try withTwo(engine) { workspace, dflat, other in
      try workspace.store((1...6).map { post($0, likes: $0) })
      let few = try Latest(
        dflat.query(Post.self).where(Post.likes < 10).orderBy(Post.likes.ascending), in: dflat)
      try other.write(Post.self) { txn in
        for number in 2...5 as ClosedRange<Int32> {
          try txn.update(post(number)) { $0.likes += 50 }
        }
      }
      // Where changes by other connections are followed, they may be delivered a little later.
      try dflat.write(Post.self) { _ = try $0.delete(post(3)) }
      #expect(eventually { !few.objects.map(\.number).contains(3) })
      try dflat.write(Post.self) { try $0.update(post(4)) { $0.isPinned = true } }
      #expect(eventually { !few.objects.map(\.number).contains(4) })
      try dflat.write(Post.self) { try $0.update(post(5)) { $0.likes = 0 } }
      #expect(few.objects.first?.number == 5)
      #expect(few.objects.count { $0.number == 5 } == 1)
    }
  }

  @Test("Results across relations stay in order", arguments: TestEngine.ofFiles)
  func related(engine: TestEngine) throws {
    try withTwo(engine) { _, dflat, other in
      try dflat.write(Writer.self, Story.self) { txn in
        for number in 1...5 {
          try txn.insert(Writer(handle: "w\(number)", age: Int32(number)))
          try txn.insert(Story(id: Int64(number), writer: "w\(number)"))
        }
      }
      let query = dflat.query(Story.self).orderBy(Story.writer.age.ascending)
      let stories = try Latest(query, in: dflat)
      let first = try Latest(query.limit(2), in: dflat)
      func isCurrent() throws -> Bool {
        try stories.objects.map(\.id) == query.fetch().map(\.id)
          && first.objects.map(\.id) == query.limit(2).fetch().map(\.id)
      }
      #expect(try eventually { try isCurrent() })
      try other.write(Story.self) { try $0.update(Story(id: 1)) { $0.writer = nil } }
      // As far as this workspace knows, it is a story of this writer.
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "w1")) { $0.age = 9 } }
      try dflat.write(Story.self) { try $0.insert(Story(id: 6, writer: "w2")) }
      try dflat.write(Story.self) { try $0.update(Story(id: 1)) { $0.title = "mine" } }
      #expect(try eventually { try isCurrent() })
      try other.write(Story.self) { try $0.update(Story(id: 3)) { $0.writer = nil } }
      try dflat.write(Story.self) { _ = try $0.delete(Story(id: 3)) }
      #expect(try eventually { try isCurrent() })
      try dflat.write(Story.self) { try $0.insert(Story(id: 9, writer: "w4")) }
      #expect(try eventually { try isCurrent() })
    }
  }

  @Test("Objects in memory leave with their deletion", arguments: TestEngine.ofFiles)
  func resident(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let other = workspace.reopened().dflat
      try await dflat.write(Post.self) { txn in
        for number in 1...6 as ClosedRange<Int32> { try txn.insert(post(number, likes: 1)) }
      }
      let posts = try await dflat.resident(Post.self)
      let keys = try await dflat.keySet(of: dflat.query(Post.self))
      #expect(posts.objects(where: Post.likes, is: 1).count == 6)
      try await other.write(Post.self) { txn in
        try txn.update(post(3)) { $0.likes = 2 }
        try txn.update(post(4)) { $0.number = 40 }
      }
      try await dflat.write(Post.self) { txn in
        _ = try txn.delete(post(3))
        _ = try txn.delete(post(40))
      }
      #expect(posts.all.map(\.number) == [1, 2, 5, 6])
      #expect(posts.objects(where: Post.likes, is: 1).map(\.number) == [1, 2, 5, 6])
      #expect(posts["s", 4] == nil && posts["s", 40] == nil)
      #expect(keys.keys.map(\.parts.1).sorted() == [1, 2, 5, 6])
      // A key passes to another object.
      try await other.write(Post.self) { txn in
        try txn.update(post(5)) { $0.number = 50 }
        try txn.update(post(6)) { $0.number = 5 }
      }
      try await dflat.write(Post.self) { try $0.update(post(5)) { $0.likes = 7 } }
      #expect(posts["s", 5]?.likes == 7)
      #expect(posts.objects(where: Post.likes, is: 7).map(\.number) == [5])
      #expect(posts.objects(where: Post.likes, is: 1).count { $0.number == 5 } == 0)
      await other.shutdown()
    }
  }

  @Test("Counts are never negative", arguments: TestEngine.ofFiles)
  func counts(engine: TestEngine) throws {
    try withTwo(engine) { workspace, dflat, other in
      let counts = Log<Int>()
      let others = Log<Int>()
      let posts = dflat.query(Post.self)
      let subscriptions = [
        dflat.subscribe(posts.computing(.count)) { counts.add($0) },
        dflat.subscribe(posts.computing(.count, .max(Post.likes))) { others.add($0.0) },
      ]
      try workspace.settle()
      try other.write(Post.self) { txn in
        for number in 1...3 as ClosedRange<Int32> { try txn.insert(post(number, likes: 1)) }
      }
      try dflat.write(Post.self) { _ = try $0.delete(post(1)) }
      try dflat.write(Post.self) { _ = try $0.delete(post(2)) }
      #expect(counts.events.allSatisfy { $0 >= 0 }, "\(counts.events)")
      #expect(others.events.allSatisfy { $0 >= 0 }, "\(others.events)")
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test(
    "The first transaction behind a commit of another connection brings what that has changed",
    arguments: TestEngine.ofFiles)
  func once(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let other = workspace.reopened().dflat
      try await dflat.write(Post.self) { txn in
        for number in 1...6 as ClosedRange<Int32> { try txn.insert(post(number, likes: number)) }
      }
      let few = dflat.query(Post.self).where(Post.likes < 10)
      let results = Log<[Int32]>()
      let counts = Log<Int>()
      let deleted = Log<Bool>()
      let subscriptions = [
        dflat.subscribe(few) { results.add($0.map(\.number)) },
        dflat.subscribe(few.computing(.count)) { counts.add($0) },
        dflat.subscribe(object: try #require(dflat.find(Post.self, ("s", 2)))) {
          if case .deleted = $0 { deleted.add(true) }
        },
      ]
      let keys = try await dflat.keySet(of: few)
      try await dflat.write(Post.self) { _ in }
      try await other.write(Post.self) { txn in
        _ = try txn.delete(post(2))
        try txn.update(post(3)) { $0.likes = 50 }
      }
      try await dflat.write(Post.self) { try $0.update(post(6)) { $0.likes = 7 } }
      #expect(results.events.last == [1, 4, 5, 6] && counts.events.last == 4)
      #expect(keys.keys.count == 4 && deleted.events == [true])
      // Behind it, changes are delivered as ever.
      try await dflat.write(Post.self) { try $0.update(post(1)) { $0.likes = 70 } }
      #expect(results.events.last == [4, 5, 6] && counts.events.last == 3)
      for subscription in subscriptions { subscription.cancel() }
      await other.shutdown()
    }
  }

  @Test("Behind a slow handler a result across relations has each object once")
  func slowHandler() throws {
    try withTwo(.sqlite) { _, dflat, other in
      try dflat.write(Writer.self, Story.self) { txn in
        for number in 1...5 {
          try txn.insert(Writer(handle: "w\(number)", age: Int32(number)))
          try txn.insert(Story(id: Int64(number), writer: "w\(number)"))
        }
      }
      let query = dflat.query(Story.self).orderBy(Story.writer.age.ascending)
      let seen = Log<[Int64]>()
      let related = dflat.subscribe(query) { seen.add($0.map(\.id)) }
      let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = dflat.subscribe(dflat.query(Story.self).where(Story.likes == 7)) { result in
        if result.isEmpty { return }
        isInside.signal()
        mayGoOn.expect("that it may go on")
      }
      try dflat.write(Story.self) { _ in }
      let done = DispatchGroup()
      func change(
        _ types: [Any.Type], _ body: @escaping @Sendable (any TransactionContext) -> Void
      ) {
        done.enter()
        dflat.performChanges(types, changesHandler: body) { _ in done.leave() }
      }
      change([Story.self]) { txn in
        txn.try(
          submit: Guild.StoryChangeRequest.creationRequest(Story(id: 9, likes: 7, writer: "w3")))
      }
      isInside.expect("the slow handler")
      // These are committed before any is delivered.
      try other.write(Story.self) { try $0.update(Story(id: 2)) { $0.writer = "w5" } }
      for _ in 1...2 {
        change([Story.self]) { txn in
          guard let story = Guild.StoryChangeRequest.changeRequest(Story(id: 2)) else { return }
          story.likes += 1
          txn.try(submit: story)
        }
        change([Writer.self]) { txn in
          guard let writer = Guild.WriterChangeRequest.changeRequest(Writer(handle: "w5")) else {
            return
          }
          writer.age = (writer.age ?? 0) - 4
          txn.try(submit: writer)
        }
      }
      mayGoOn.signal()
      #expect(done.expect("the completions"))
      #expect(try eventually { try seen.events.last == query.fetch().map(\.id) })
      #expect(seen.events.allSatisfy { Set($0).count == $0.count }, "\(seen.events)")
      related.cancel()
      slow.cancel()
    }
  }

  @Test("What another connection has stored first is seen with the first transaction")
  func newFile() async throws {
    try await withTemporaryWorkspace(.sqlite) { workspace in
      let dflat = workspace.dflat
      let results = Log<[Int32]>()
      let subscription = dflat.subscribe(dflat.query(Post.self)) { results.add($0.map(\.number)) }
      // There is no file yet.
      let keys = try await dflat.keySet(of: dflat.query(Post.self))
      let other = workspace.reopened().dflat
      try await other.write(Post.self) { try $0.insert(post(1)) }
      try await dflat.write(Post.self) { try $0.insert(post(2)) }
      #expect(results.events.last == [1, 2] && keys.keys.count == 2)
      subscription.cancel()
      await other.shutdown()
    }
  }
}
