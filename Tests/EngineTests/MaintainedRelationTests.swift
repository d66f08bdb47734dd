// Results that look through a relation to one object, and are maintained.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Maintained results across relations", .endsSometime)
struct MaintainedRelationTests {
  /// Runs `body` with a log of the results of a query. When a write has returned, its result is
  /// there.
  private func watching(
    _ engine: TestEngine, _ query: (any Workspace) -> ObjectQuery<Guild.Story>,
    _ body: (any Workspace, Log<[Int64]>) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(contentsOf: [
          Writer(handle: "ada", name: "Ada", age: 40), Writer(handle: "ben", name: "Ben", age: 20),
        ])
        try txn.insert(contentsOf: [
          Story(id: 1, title: "one", writer: "ada"), Story(id: 2, title: "two", writer: "ben"),
          Story(id: 3, title: "three", writer: "cid"), Story(id: 4, title: "four"),
        ])
      }
      let log = Log<[Int64]>()
      let subscription = dflat.subscribe(query(dflat)) { log.add($0.map(\.id)) }
      try dflat.write(Writer.self, Story.self) { _ in }
      try body(dflat, log)
      subscription.cancel()
    }
  }

  private func rename(_ handle: String, _ name: String?, _ dflat: any Workspace) throws {
    try dflat.write(Writer.self) { try $0.update(Writer(handle: handle)) { $0.name = name } }
  }

  @Test(
    "Both sides of a relation bring objects in and out, each transaction once",
    arguments: TestEngine.all)
  func condition(engine: TestEngine) throws {
    try watching(engine, { $0.query(Story.self).where(Story.writer.name == "Ada") }) {
      dflat, log in
      #expect(log.events == [[1]])
      try rename("ben", "Ada", dflat)
      #expect(log.events.last == [1, 2])
      // The object that a story has referred to before comes later.
      try dflat.write(Writer.self) { _ = try $0.insert(Writer(handle: "cid", name: "Ada")) }
      #expect(log.events.last == [1, 2, 3])
      try dflat.write(Story.self) { try $0.update(Story(id: 1)) { $0.writer = nil } }
      #expect(log.events.last == [2, 3])
      try dflat.write(Story.self) { try $0.update(Story(id: 4)) { $0.writer = "ada" } }
      #expect(log.events.last == [2, 3, 4])
      // One transaction moves both sides.
      try dflat.write(Story.self, Writer.self) { txn in
        try txn.update(Writer(handle: "ben")) { $0.name = "Ben" }
        try txn.update(Story(id: 3)) { $0.writer = "ben" }
        try txn.update(Story(id: 1)) { $0.writer = "ada" }
      }
      #expect(log.events.last == [1, 4])
      #expect(log.events.count == 6)
    }
  }

  @Test("What is not visible is not delivered", arguments: TestEngine.all)
  func invisible(engine: TestEngine) throws {
    let query: (any Workspace) -> ObjectQuery<Guild.Story> = {
      $0.query(Story.self).where(Story.writer.age > 10).orderBy(Story.writer.name.ascending)
    }
    try watching(engine, query) { dflat, log in
      #expect(log.events == [[1, 2]])
      // Values that the query does not look up; then one that keeps everything in its place.
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "ada")) { $0.isActive = true } }
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "ada")) { $0.age = 50 } }
      try rename("ben", "Bert", dflat)
      // The writer goes, and comes back the same.
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.update(Story(id: 1)) { $0.writer = "ben" }
        try txn.update(Story(id: 1)) { $0.writer = "ada" }
        try txn.update(Writer(handle: "ben")) { $0.name = "A" }
        try txn.update(Writer(handle: "ben")) { $0.name = "Bert" }
      }
      #expect(log.events.count == 1)
      try rename("ben", "A", dflat)
      #expect(log.events == [[1, 2], [2, 1]])
    }
  }

  @Test("A deletion takes the objects along, or leaves them behind", arguments: TestEngine.all)
  func deletion(engine: TestEngine) throws {
    let query: (any Workspace) -> ObjectQuery<Guild.Story> = {
      $0.query(Story.self).where(Story.writer.name != "x").orderBy(Story.writer.age.ascending)
    }
    try watching(engine, query) { dflat, log in
      #expect(log.events == [[2, 1]])
      // Writers are deleted with their stories.
      try dflat.write(Writer.self) { _ = try $0.delete(Writer(handle: "ben")) }
      #expect(log.events == [[2, 1], [1]])
      #expect(dflat.fetch(for: Story.self).all().map(\.id) == [1, 3, 4])
      try dflat.write(Story.self) { _ = try $0.delete(Story(id: 1)) }
      #expect(log.events == [[2, 1], [1], []])
    }
  }

  @Test("A limit is filled up from behind", arguments: TestEngine.all)
  func limit(engine: TestEngine) throws {
    let query: (any Workspace) -> ObjectQuery<Guild.Story> = {
      $0.query(Story.self).where(Story.id >= 100)
        .orderBy(Story.writer.age.descending, Story.id.ascending).limit(2)
    }
    try watching(engine, query) { dflat, log in
      try dflat.write(Story.self, Writer.self) { txn in
        for number in 0..<40 {
          try txn.insert(Writer(handle: "w\(number)", age: Int32(number)))
          try txn.insert(Story(id: Int64(100 + number), writer: "w\(number)"))
        }
      }
      #expect(log.events == [[], [139, 138]])
      for number in stride(from: 39, through: 4, by: -1) {
        try dflat.write(Writer.self) { txn in
          try txn.update(Writer(handle: "w\(number)")) { $0.age = nil }
        }
        #expect(log.events.last == [Int64(99 + number), Int64(98 + number)])
      }
      #expect(log.events.count == 38)
      // From far behind the limit.
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "w30")) { $0.age = 99 } }
      #expect(log.events.last == [130, 103])
    }
  }

  @Test("Many other objects in one transaction", arguments: TestEngine.all)
  func bulk(engine: TestEngine) throws {
    try watching(engine, { $0.query(Story.self).where(Story.writer.name == "New") }) {
      dflat, log in
      try dflat.write(Story.self, Writer.self) { txn in
        try txn.insert(contentsOf: (0..<300).map { Writer(handle: "w\($0)", name: "Old") })
        try txn.insert(contentsOf: (0..<300).map { Story(id: 100 + $0, writer: "w\($0)") })
      }
      #expect(log.events == [[]])
      try dflat.write(Writer.self) { txn in
        try txn.update(txn.query(Writer.self).where(Writer.name == "Old")) { $0.name = "New" }
      }
      #expect(log.events.count == 2)
      #expect(log.events.last == (0..<300).map { 100 + $0 })
    }
  }

  @Test("Sections and the first object follow, too", arguments: TestEngine.all)
  func forms(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let old = dflat.query(Story.self).where(Story.writer.age > 30)
        .orderBy(Story.writer.age.descending)
      let sections = Log<[String]>()
      let first = Log<Int64?>()
      let subscriptions = [
        dflat.subscribe(old.sectioning(by: Story.writer)) { all in
          sections.add(all.map { "\($0.key ?? "-") \($0.map(\.id))" })
        },
        dflat.subscribe(old.firstObject) { first.add($0?.id) },
      ]
      try dflat.write(Story.self, Writer.self) { txn in
        try txn.insert(contentsOf: [
          Writer(handle: "ada", age: 40), Writer(handle: "ben", age: 20),
        ])
        try txn.insert(contentsOf: [Story(id: 1, writer: "ada"), Story(id: 2, writer: "ben")])
      }
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "ben")) { $0.age = 50 } }
      #expect(sections.events == [[], ["ada [1]"], ["ada [1]", "ben [2]"]])
      #expect(first.events == [nil, 1, 2])
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("Differences name what has moved", arguments: TestEngine.all)
  func differences(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Story.self, Writer.self) { txn in
        try txn.insert(contentsOf: [
          Writer(handle: "ada", name: "A"), Writer(handle: "ben", name: "B"),
        ])
        try txn.insert(contentsOf: [Story(id: 1, writer: "ada"), Story(id: 2, writer: "ben")])
      }
      let all = try dflat.query(Story.self).orderBy(Story.writer.name.ascending).fetch()
      let log = Log<ResultChange<Guild.Story>>()
      let subscription = dflat.subscribe(changesOf: all) { log.add($0) }
      try dflat.write(Writer.self) { try $0.update(Writer(handle: "ada")) { $0.name = "C" } }
      let change = try #require(log.events.first)
      #expect(log.events.count == 1)
      #expect(change.moves.count == 1 && change.updates.isEmpty)
      #expect(change.result.map(\.id) == [2, 1])
      subscription.cancel()
    }
  }

  @Test("Compound keys, also one that a deletion empties", arguments: TestEngine.all)
  func compound(engine: TestEngine) throws {
    typealias Venue = Tour.Venue
    typealias Concert = Tour.Concert
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let log = Log<[String?]>()
      let query = dflat.query(Concert.self)
        .where(Concert.venue.seats > 10 || Concert.backup.seats > 10)
        .orderBy(Concert.backup.name.descending)
      let subscription = dflat.subscribe(query) { log.add($0.map(\.title)) }
      try dflat.write(Venue.self, Concert.self) { txn in
        try txn.insert(contentsOf: [
          Venue(city: "Bern", number: 1, name: "Arena", seats: 5),
          Venue(city: "Bern", number: 2, name: "Club", seats: 20),
        ])
        try txn.insert(contentsOf: [
          Concert(season: 1, number: 1, title: "a", city: "Bern", hall: 1, backupHall: 2),
          Concert(season: 1, number: 2, title: "b", city: "Bern", hall: 1, backupHall: 1),
          Concert(season: 1, number: 3, title: "c", city: "Bern", hall: 2),
        ])
      }
      #expect(try query.explain().following == .maintained)
      #expect(log.events.last == ["a", "c"])
      try dflat.write(Venue.self) { txn in
        try txn.update(Venue(city: "Bern", number: 1)) { $0.seats = 30 }
      }
      #expect(log.events.last == ["a", "b", "c"])
      // It deletes "c", and takes the city from "a" with its other hall.
      try dflat.write(Venue.self) { _ = try $0.delete(Venue(city: "Bern", number: 2)) }
      #expect(log.events.last == ["b"])
      let now = try query.fetch().map { $0.title }
      #expect(log.events.last == now)
      #expect(log.events.count == 4)
      subscription.cancel()
    }
  }

  @Test("An explanation says why a query is asked again", arguments: TestEngine.some([.memory]))
  func reasons(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let stories = dflat.query(Story.self)
      try dflat.write(Story.self, Writer.self) { try $0.insert(Story(id: 9)) }
      func reason(_ query: some Request) throws -> String? {
        let explanation = try #require(try query.explain().first)
        #expect(
          (explanation.following == .askedAgain) == (explanation.reasonToAskAgain != nil))
        return explanation.reasonToAskAgain
      }
      #expect(try reason(stories.where(Story.writer.name == "Ada")) == nil)
      #expect(try reason(stories.orderBy(Story.writer.name.ascending)) == nil)
      #expect(
        try reason(stories.where(Story.editor.name == "Ada"))
          == "editor has no index, which would find the objects that refer to a changed one")
      #expect(
        try reason(stories.where(Story.parent.writer.name == "Ada"))
          == "parent.writer.name is reached over several objects")
      #expect(
        try reason(stories.where(Story.labels.any { $0.rank == 1 }))
          == "it depends on a relation to several objects")
      #expect(
        try reason(stories.where(Story.writer.languages.contains("en")))
          == "it depends on the elements of a related vector")
      #expect(
        try reason(dflat.query(Writer.self).where(Writer.stories.count > 1))
          == "it depends on all objects of Story that refer to one")
      #expect(
        try reason(stories.where(Story.writer.name == "Ada").computing(.count))
          == "it computes values across relations")
      #expect(try reason(stories.listingKeys()) == "it gives keys, and no objects")
      #expect(try reason(stories.paging(size: 2)) != nil)
      #expect(try reason(stories.including(Story.writer)) != nil)
    }
  }

  // MARK: Other connections

  @Test("What another workspace has changed comes with a refresh", arguments: TestEngine.all)
  func external(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "Ben"))
        _ = try txn.insert(contentsOf: [Story(id: 1, writer: "ada"), Story(id: 2, writer: "ben")])
      }
      let log = Log<[Int64]>()
      let query = dflat.query(Story.self).where(Story.writer.name == "Ada")
        .orderBy(Story.writer.name.descending, Story.likes.descending)
      let subscription = dflat.subscribe(query) { log.add($0.map(\.id)) }
      try await dflat.write(Writer.self, Story.self) { _ in }
      let other = workspace.reopened()
      try await other.dflat.write(Writer.self) { txn in
        try txn.update(Writer(handle: "ada")) { $0.name = "Ada" }
        _ = try txn.insert(Writer(handle: "ben", name: "Ada"))
      }
      await dflat.refresh()
      #expect(log.events == [[], [1, 2]])
      try await other.dflat.write(Story.self) { txn in
        try txn.update(Story(id: 2)) { $0.likes = 3 }
      }
      await dflat.refresh()
      #expect(log.events == [[], [1, 2], [2, 1]])
      // Nothing has changed.
      await dflat.refresh()
      // An own change goes on from there.
      try await dflat.write(Writer.self) { txn in
        try txn.update(Writer(handle: "ben")) { $0.name = nil }
      }
      #expect(log.events == [[], [1, 2], [2, 1], [1]])
      subscription.cancel()
      withExtendedLifetime(other) {}
    }
  }

  @Test(
    "A change of another workspace behind an own one that is not delivered yet",
    arguments: TestEngine.all)
  func overtaken(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "Ben"))
        _ = try txn.insert(Story(id: 1, writer: "ada"))
      }
      let log = Log<[Int64]>()
      let query = dflat.query(Story.self).where(Story.writer.name == "Ada")
      let subscription = dflat.subscribe(query) { log.add($0.map(\.id)) }
      let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = dflat.subscribe(dflat.query(Writer.self).where(Writer.age == 1)) { result in
        if result.isEmpty { return }
        isInside.signal()
        mayGoOn.expect("that it may go on")
      }
      let done = DispatchGroup()
      func set(_ age: Int32, _ name: String) {
        done.enter()
        dflat.performChanges([Writer.self]) { txn in
          guard let ada = Guild.WriterChangeRequest.changeRequest(Writer(handle: "ada")) else {
            return
          }
          ada.age = age
          ada.name = name
          txn.try(submit: ada)
        } completionHandler: { _ in
          done.leave()
        }
      }
      set(1, "Ben")
      _ = try await beyondTasks { isInside.expect("the slow handler") }
      // Committed, and not delivered.
      set(2, "Ada")
      try await committed(2, dflat)
      // The other workspace may commit behind an own transaction that is not delivered.
      let other = workspace.reopened()
      let isOther = other.dflat as AnyObject !== dflat as AnyObject
      if isOther {
        try await other.dflat.write(Writer.self) { txn in
          try txn.update(Writer(handle: "ada")) { $0.name = "Ben" }
        }
      }
      async let refreshed: Void = dflat.refresh()
      mayGoOn.signal()
      _ = try await beyondTasks { done.expect("the completions") }
      await refreshed
      // What is read once more is behind the refresh.
      for _ in 0..<2 { try await dflat.write(Writer.self, Story.self) { _ in } }
      #expect(log.events.last == (isOther ? [] : [1]))
      subscription.cancel()
      slow.cancel()
      withExtendedLifetime(other) {}
    }
  }

  /// Returns when a change is committed.
  private func committed(_ age: Int32, _ dflat: any Workspace) async throws {
    while try dflat.query(Writer.self).where(Writer.age == age).first() == nil {
      await Task.yield()
    }
  }

  // MARK: Order

  @Test(
    "Behind a slow handler each transaction is shown as it was committed",
    arguments: TestEngine.withOwnCommits)
  func slow(engine: TestEngine) throws {
    try watching(engine, { $0.query(Story.self).where(Story.writer.name == "Ada") }) {
      dflat, log in
      let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let slow = dflat.subscribe(dflat.query(Story.self).where(Story.likes == 7)) { result in
        if result.isEmpty { return }
        isInside.signal()
        mayGoOn.expect("that it may go on")
      }
      let done = DispatchGroup()
      func change(
        _ types: [Any.Type], _ body: @escaping @Sendable (any TransactionContext) -> Void
      ) {
        done.enter()
        dflat.performChanges(types, changesHandler: body) { _ in done.leave() }
      }
      change([Story.self]) { txn in
        txn.try(submit: Guild.StoryChangeRequest.creationRequest(Story(id: 5, likes: 7)))
      }
      isInside.expect("the slow handler")
      // All these are committed before any is delivered.
      for name in ["Ada", "Ben", "Ada"] {
        change([Writer.self]) { txn in
          guard let ben = Guild.WriterChangeRequest.changeRequest(Writer(handle: "ben")) else {
            return
          }
          ben.name = name
          txn.try(submit: ben)
        }
        change([Story.self]) { txn in
          guard let story = Guild.StoryChangeRequest.changeRequest(Story(id: 1)) else { return }
          story.likes += 1
          txn.try(submit: story)
        }
      }
      // This one begins behind them.
      let late = Log<[Int64]>()
      let subscription = dflat.subscribe(
        dflat.query(Story.self).where(Story.writer.name == "Ada")
          .orderBy(Story.writer.age.ascending)
      ) { late.add($0.map(\.id)) }
      mayGoOn.signal()
      #expect(done.expect("the completions"))
      try dflat.write(Writer.self, Story.self) { _ in }
      // Stories and writers are committed on their own, so their order is not fixed.
      #expect(log.events.count == 7)
      #expect(log.events.map(\.count).reduce(0, +) >= 8)
      #expect(log.events.last == [1, 2])
      #expect(late.events == [[2, 1]])
      slow.cancel()
      subscription.cancel()
    }
  }

  @Test(
    "While it is watched, the changes of its types are delivered one after another",
    arguments: TestEngine.some([.memory]))
  func linked(engine: TestEngine) throws {
    try watching(engine, { $0.query(Story.self).where(Story.writer.name == "Ada") }) { dflat, _ in
      let events = Log<String>()
      let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      // The first call, in a delivery of this type alone.
      let slow = dflat.subscribe(dflat.query(Writer.self)) { _ in
        isInside.signal()
        mayGoOn.expect("that it may go on")
        events.add("left")
      }
      isInside.expect("the slow handler")
      dflat.performChanges([Story.self]) { txn in
        txn.try(submit: Guild.StoryChangeRequest.creationRequest(Story(id: 5)))
      } completionHandler: { _ in
        events.add("completed")
      }
      while try dflat.query(Story.self).where(Story.id == 5).first() == nil {}
      // Other types do not wait.
      for number: Int32 in 0..<20 {
        try dflat.write(Post.self) { _ = try $0.insert(post(number)) }
      }
      mayGoOn.signal()
      events.wait(2)
      #expect(events.events == ["left", "completed"])
      slow.cancel()
    }
  }

  @Test("Cancelling ends it while both types change", arguments: TestEngine.some([.memory]))
  func cancelling(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let query = dflat.query(Story.self).where(Story.writer.name == "Ada")
      DispatchQueue.concurrentPerform(iterations: 3) { number in
        for round in 0..<40 {
          do {
            switch number {
            case 0:
              try dflat.write(Writer.self) { txn in
                try txn.upsert(Writer(handle: "ada", name: round % 2 == 0 ? "Ada" : "x"))
              }
            case 1:
              try dflat.write(Story.self) { txn in
                try txn.upsert(Story(id: Int64(round % 3), likes: Int32(round), writer: "ada"))
              }
            default:
              let isOver = Mutex(false)
              let subscription = dflat.subscribe(query) { _ in
                let wasOver = isOver.withLock { $0 }
                #expect(!wasOver)
              }
              if round % 4 == 0 { try dflat.write(Writer.self, Story.self) { _ in } }
              subscription.cancel()
              try dflat.write(Writer.self, Story.self) { _ in isOver.withLock { $0 = true } }
            }
          } catch { Issue.record(error) }
        }
      }
    }
  }
}
