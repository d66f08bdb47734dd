// What is observed, and what dictionaries remember, before the commits of another program are
// noticed.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Own changes, before those of another program are noticed", .endsSometime)
struct UnnoticedTests {
  private typealias Writer = Guild.Writer
  private typealias Story = Guild.Story

  /// Calls `body` with two workspaces. The first one has looked at what the second one has done,
  /// and calls `looked` to wait until it has done so again.
  private func following(
    _ body: (
      _ dflat: PostgresWorkspace, _ other: PostgresWorkspace, _ schema: String,
      _ looked: () async throws -> Void
    ) async throws -> Void
  ) async throws {
    try await withTwoWorkspaces { dflat, other, schema in
      let counts = Log<Int>()
      let subscription = dflat.subscribe(dflat.query(Note.self)) { counts.add($0.count) }
      try waitForListener(schema)
      let last = Atomic<Int>(0)
      func looked() async throws {
        let number = last.add(1, ordering: .relaxed).newValue
        try await other.write(Note.self) { try $0.insert(Note(key: UInt64(number))) }
        #expect(eventually { counts.events.last == number })
      }
      try await looked()
      try await body(dflat, other, schema, looked)
      subscription.cancel()
    }
  }

  @Test("An object moves to where it belongs, with the first change of its type by others")
  func firstChange() async throws {
    try await following { dflat, other, schema, looked in
      try await other.write(Post.self) { txn in
        for number in 1...4 as ClosedRange<Int32> { try txn.insert(post(number, likes: number)) }
      }
      try await looked()
      let posts = dflat.query(Post.self).orderBy(Post.likes.ascending)
      let all = Log<[Int32]>()
      let first = Log<[Int32]>()
      let subscriptions = [
        dflat.subscribe(posts) { all.add($0.map(\.number)) },
        dflat.subscribe(posts.limit(1)) { first.add($0.map(\.number)) },
      ]
      all.wait()
      first.wait()
      try await withoutListener(schema) {
        try await other.write(Post.self) { try $0.update(post(1)) { $0.likes = 9 } }
        try await dflat.write(Post.self) { try $0.update(post(1)) { $0.isPinned = true } }
        #expect(all.events.last == [2, 3, 4, 1] && first.events.last == [2])
      }
      try waitForListener(schema)
      #expect(eventually { all.events.last == [2, 3, 4, 1] && first.events.last == [2] })
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("What was fetched before a change by others is caught up when it is subscribed to")
  func fetchedBefore() async throws {
    try await following { dflat, other, _, looked in
      try await other.write(Post.self) { try $0.insert(post(1, likes: 1)) }
      let fetched = dflat.fetch(for: Post.self).all()
      try await other.write(Post.self) { try $0.update(post(1)) { $0.likes = 2 } }
      // Nothing of this type was observed.
      try await looked()
      let likes = Log<[Int32]>()
      let object = Log<Int32>()
      let subscriptions = [
        dflat.subscribe(fetchedResult: fetched) { likes.add($0.map(\.likes)) },
        dflat.subscribe(object: try #require(fetched.first)) {
          if case .updated(let post) = $0 { object.add(post.likes) }
        },
      ]
      try await beyondTasks {
        likes.wait()
        object.wait()
      }
      #expect(likes.events == [[2]] && object.events == [2])
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  @Test("A result across a relation has each object once, though others had taken one out of it")
  func related() async throws {
    try await following { dflat, other, schema, _ in
      try await other.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "w", age: 1))
        for id in 1...4 as ClosedRange<Int64> {
          try txn.insert(Story(id: id, likes: Int32(id) + 3, writer: "w"))
        }
      }
      let stories = dflat.query(Story.self).where(Story.likes > 3 && Story.writer.age == 1)
        .orderBy(Story.likes.ascending)
      let seen = Log<[Int64]>()
      let subscription = dflat.subscribe(stories) { seen.add($0.map(\.id)) }
      seen.wait()
      try await withoutListener(schema) {
        try await other.write(Story.self) { txn in
          for id in [2, 3] as [Int64] { try txn.update(Story(id: id)) { $0.likes = 1 } }
        }
        // To another place, and to the same one.
        try await dflat.write(Story.self) { try $0.update(Story(id: 2)) { $0.likes = 9 } }
        #expect(seen.events.last == [1, 3, 4, 2])
        try await dflat.write(Story.self) { try $0.update(Story(id: 3)) { $0.likes = 6 } }
        #expect(seen.events.last == [1, 3, 4, 2])
      }
      #expect(try eventually { try seen.events.last == stories.fetch().map(\.id) })
      #expect(seen.events.allSatisfy { Set($0).count == $0.count }, "\(seen.events)")
      subscription.cancel()
    }
  }

  @Test("Aggregates and groups never differ from all states of the objects")
  func aggregates() async throws {
    try await following { dflat, other, schema, _ in
      try await other.write(Post.self) { txn in
        for number in 1...3 as ClosedRange<Int32> { try txn.insert(post(number, likes: 10)) }
      }
      let posts = dflat.query(Post.self)
      let sums = Log<Int?>()
      let few = Log<Int>()
      let groups = Log<[Int?]>()
      let subscriptions = [
        dflat.subscribe(posts.computing(.sum(Post.likes))) { sums.add($0.map { Int($0) }) },
        dflat.subscribe(posts.where(Post.likes < 5).computing(.count)) { few.add($0) },
        dflat.subscribe(posts.grouped(by: Post.isPinned, .sum(Post.likes))) { found in
          groups.add(found.map { (_, sum) in sum.map { Int($0) } })
        },
      ]
      try await beyondTasks {
        sums.wait()
        few.wait()
        groups.wait()
      }
      try await withoutListener(schema) {
        try await other.write(Post.self) { txn in
          try txn.update(post(1)) { $0.likes = 1000 }
          try txn.update(post(2)) { $0.likes = 1 }
          try txn.insert(post(4, likes: 500))
        }
        try await dflat.write(Post.self) { try $0.update(post(1)) { $0.likes = 20 } }
        #expect(sums.events.last == 531)
        #expect(groups.events.last == [531])
        try await dflat.write(Post.self) { txn in
          _ = try txn.delete(post(2))
          _ = try txn.delete(post(4))
        }
        #expect(sums.events.last == 30 && few.events.last == 0)
        #expect(groups.events.last == [30])
        // No other program has changed this one.
        try await dflat.write(Post.self) { try $0.update(post(3)) { $0.likes = 4 } }
        #expect(sums.events.last == 24 && few.events.last == 1)
        #expect(groups.events.last == [24])
      }
      try waitForListener(schema)
      try await dflat.write(Post.self) { try $0.update(post(3)) { $0.likes = 5 } }
      #expect(sums.events.last == 25 && few.events.last == 0 && groups.events.last == [25])
      #expect(sums.events.allSatisfy { $0.map { $0 >= 0 } ?? false }, "\(sums.events)")
      #expect(few.events.allSatisfy { $0 >= 0 }, "\(few.events)")
      for subscription in subscriptions { subscription.cancel() }
    }
  }

  // MARK: Dictionaries

  /// A network that holds back the first answer that has a certain text.
  private final class Network: Sendable {
    let holdsNextAnswer = Atomic<Bool>(false)
    let isAnswered = DispatchSemaphore(value: 0)
    let mayAnswer = DispatchSemaphore(value: 0)

    final class Filter: ProxyFilter {
      private let network: Network

      init(_ network: Network) { self.network = network }

      func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
        message
      }

      func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
        if message.type == UInt8(ascii: "D"),
          String(decoding: message.body, as: UTF8.self).contains("old value"),
          network.holdsNextAnswer.exchange(false, ordering: .acquiringAndReleasing)
        {
          network.isAnswered.signal()
          network.mayAnswer.expect("the end of the pause")
        }
        return message
      }
    }
  }

  @Test(
    "A dictionary does not remember what it has read before others have changed it",
    arguments: [false, true])
  func dictionary(isWatched: Bool) async throws {
    try await withSchema { schema in
      let network = Network()
      let proxy = try ServerProxy { Network.Filter(network) }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy)
      let other = postgresWorkspace(schema: schema)
      var theirs = other.dictionary
      theirs["key"] = "old value"
      theirs["last"] = 0
      theirs.synchronize()
      let last = Log<Int>()
      let subscription = dflat.dictionary.subscribe("last", of: Int.self) { event in
        if case .updated(let value) = event { last.add(value) }
      }
      try waitForListener(schema)
      theirs["last"] = 1
      theirs.synchronize()
      try await beyondTasks { last.wait() }
      network.holdsNextAnswer.store(true, ordering: .releasing)
      let values = Log<String?>()
      let watched = Mutex<(any WorkspaceSubscription)?>(nil)
      let reading = onOwnThread {
        if !isWatched { return values.add(dflat.dictionary["key", String.self]) }
        let subscription = dflat.dictionary.subscribe("key", of: String.self) { event in
          switch event {
          case .initial(let value): values.add(value)
          case .updated(let value): values.add(value)
          case .deleted: values.add(nil)
          }
        }
        watched.withLock { $0 = subscription }
      }
      network.isAnswered.expect("the first read")
      theirs["key"] = "new value"
      theirs.synchronize()
      theirs["last"] = 2
      theirs.synchronize()
      // Memory has followed both.
      try await beyondTasks { last.wait() }
      network.mayAnswer.signal()
      reading.expect("the end of the read")
      if isWatched { #expect(eventually { values.events.last == "new value" }) }
      #expect(dflat.dictionary["key", String.self] == "new value")
      watched.withLock { $0?.cancel() }
      subscription.cancel()
      await dflat.shutdown()
      await other.shutdown()
    }
  }
}
