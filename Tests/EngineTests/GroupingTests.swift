// Groups: by several expressions, as values, and following the data; keys of several fields; calls
// that take fields, with references.

import Dflat
import DflatTestSupport
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Groups and fields")
struct GroupingTests {
  private func posts(_ random: inout SeededGenerator) -> [Post] {
    (1...60 as ClosedRange<Int32>).map { number in
      Post(
        site: random.pick(["a", "b"]), number: number,
        status: random.pick([.draft, .published]), likes: random.pick([1, 2, 3]),
        place: random.oneIn(2) ? nil : Blog.Place(lat: random.pick([0.1, 0.2, 0.7]), lon: 0),
        author: random.oneIn(3) ? nil : Blog.Author(handle: random.pick(["x", "y"])),
        isPinned: random.oneIn(2))
    }
  }

  @Test("Groups by three and four expressions are those of a dictionary", arguments: TestEngine.all)
  func several(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let stored = posts(&random)
        try workspace.store(stored)
        let query = workspace.dflat.query(Post.self)
        let three = try query.group(
          by: Post.site, and: Post.author.handle, and: Post.isPinned, .count, .sum(Post.likes))
        let expected = Dictionary(grouping: stored) {
          [$0.site, $0.author?.handle, "\($0.isPinned)"]
        }
        #expect(three.count == expected.count)
        for (site, handle, isPinned, count, likes) in three {
          let group = expected[[site, handle, isPinned.map { "\($0)" }]] ?? []
          #expect(count == group.count && likes == group.reduce(0) { $0 + Int64($1.likes) })
        }
        // In ascending order, unknown values first.
        let texts = three.map { "\($0.0 ?? "") \($0.1 ?? "") \($0.2 == true ? 1 : 0)" }
        #expect(texts == texts.sorted())
        let four = try query.group(
          by: Post.site, and: Post.likes, and: Post.isPinned, and: Post.status,
          having: { true })
        let all = Set(stored.map { "\($0.site) \($0.likes) \($0.isPinned) \($0.status)" })
        #expect(four.count == all.count)
        for (site, likes, isPinned, status) in four {
          let text =
            "\(site ?? "") \(likes ?? 0) \(isPinned ?? false) \(status ?? .archived)"
          #expect(all.contains(text))
        }
        let few = try query.group(
          by: Post.site, and: Post.likes, and: Post.isPinned, and: Post.status, .count,
          having: { $0 > 3 })
        let sizes = Dictionary(grouping: stored) {
          "\($0.site) \($0.likes) \($0.isPinned) \($0.status)"
        }.values.map(\.count).filter { $0 > 3 }
        #expect(few.map { $0.4 }.sorted() == sizes.sorted())
      }
    }
  }

  @Test("Groups by more expressions, computed ones among them", arguments: TestEngine.all)
  func many(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let stored = posts(&random)
        try workspace.store(stored)
        let query = workspace.dflat.query(Post.self)
        let note = Comment(rawValue: "DFLAT_SEED=\(random.seed)")
        let expected = Dictionary(grouping: stored) {
          "\($0.site) \($0.likes) \($0.author?.handle ?? "") \($0.number % 2) \($0.isPinned)"
        }
        let five = try query.group(
          by: Post.site, Post.likes, Post.author.handle, Post.number % 2, Post.isPinned,
          computing: .count, .max(Post.number))
        #expect(five.count == expected.count, note)
        for (site, likes, handle, rest, isPinned, count, greatest) in five {
          let text =
            "\(site ?? "?") \(likes ?? 0) \(handle ?? "") \(rest ?? 9) \(isPinned ?? false)"
          let group = expected[text] ?? []
          #expect(count == group.count && greatest == group.map(\.number).max(), note)
        }
        let large = try query.group(
          by: Post.site, Post.likes, Post.author.handle, Post.number % 2, Post.isPinned,
          computing: .count, having: { $0 > 1 })
        #expect(
          large.map { $0.5 }.sorted()
            == expected.values.map(\.count).filter { $0 > 1 }.sorted(), note)
        // Conditions make groups, too, and one call is as good as another.
        let three = try query.group(
          by: Post.likes > 1, Post.site, Post.status, computing: .count)
        let pairs = try query.group(by: Post.site, and: Post.status, .count)
        #expect(three.reduce(0) { $0 + $1.3 } == pairs.reduce(0) { $0 + $1.2 }, note)
        #expect(three.allSatisfy { $0.0 != nil }, note)
        let same = try query.group(by: Post.site, Post.status, computing: .count)
        #expect(same.map { "\($0)" } == pairs.map { "\($0)" }, note)
      }
    }
  }

  @Test("Groups that are followed are those that are asked for", arguments: TestEngine.all)
  func live(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 60 : 4) {
        try withTemporaryWorkspace(engine) { workspace in
          try round(workspace, &random)
        }
      }
    }
  }

  private func round(_ workspace: TemporaryWorkspace, _ random: inout SeededGenerator) throws {
    let dflat = workspace.dflat
    let query = dflat.query(Post.self).where(Post.likes > 1)
    let groups = query.grouped(
      by: Post.author.handle, and: Post.isPinned, .count, .sum(Post.likes), .min(Post.likes),
      .max(Post.number))
    let cut = query.limit(5).grouped(by: Post.status, .average(Post.likes))
    let fine = query.grouped(
      by: Post.author.handle, Post.number % 3 == 0, Post.status, computing: .max(Post.number),
      .min(Post.author.handle))
    let rounded = query.grouped(by: Post.site, .sum(Post.place.lat), .max(Post.number))
    let heard = Mutex<[String]>([])
    let heardCut = Mutex<[String]>([])
    let heardFine = Mutex<[String]>([])
    let heardRounded = Mutex<[String]>([])
    let calls = Mutex(0)
    let subscriptions: [any WorkspaceSubscription] = [
      dflat.subscribe(groups) { groups in
        heard.withLock { $0 = groups.map { "\($0)" } }
        calls.withLock { $0 += 1 }
      },
      dflat.subscribe(cut) { groups in heardCut.withLock { $0 = groups.map { "\($0)" } } },
      dflat.subscribe(fine) { groups in heardFine.withLock { $0 = groups.map { "\($0)" } } },
      dflat.subscribe(rounded) { groups in
        heardRounded.withLock { $0 = groups.map { "\($0)" } }
      },
    ]
    let shown = try LiveValue(groups, on: nil)
    for _ in 0..<25 {
      let changes = posts(&random).shuffled(using: &random).prefix(
        Int.random(in: 1...5, using: &random))
      let isDeletion = random.oneIn(4)
      try workspace.write([Post.self]) { txn in
        for post in changes {
          if !isDeletion {
            try txn.submit(Blog.PostChangeRequest.upsertRequest(post))
          } else if let request = Blog.PostChangeRequest.deletionRequest(post) {
            try txn.submit(request)
          }
        }
      }
      let expected = try groups.fetch().map { "\($0)" }
      #expect(heard.withLock { $0 } == expected, "DFLAT_SEED=\(random.seed)")
      #expect(shown.value.map { "\($0)" } == expected)
      #expect(try heardCut.withLock { $0 } == cut.fetch().map { "\($0)" })
      #expect(try heardFine.withLock { $0 } == fine.fetch().map { "\($0)" })
      #expect(try heardRounded.withLock { $0 } == rounded.fetch().map { "\($0)" })
    }
    let before = calls.withLock { $0 }
    // This changes an object in a group, and no group.
    if let post = try query.first() {
      try workspace.write([Post.self]) { txn in
        let request = try #require(Blog.PostChangeRequest.changeRequest(post))
        request.tags = ["changed"]
        try txn.submit(request)
      }
      #expect(calls.withLock { $0 } == before)
    }
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test("Many groups that come and go", arguments: TestEngine.all)
  func passing(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let heard = Mutex<[Int32?]>([])
      let groups = workspace.dflat.query(Post.self).grouped(by: Post.number, .max(Post.likes))
      let subscription = workspace.dflat.subscribe(groups) { groups in
        heard.withLock { $0 = groups.map { $0.0 } }
      }
      for start in stride(from: 1 as Int32, to: 400, by: 40) {
        try workspace.store((start..<start + 40).map { post($0, likes: $0) })
        #expect(heard.withLock { $0 } == Array(start..<start + 40))
        try workspace.remove(Array(start..<start + 40))
        #expect(heard.withLock { $0 } == [])
      }
      subscription.cancel()
    }
  }

  @Test("Groups whose greatest values leave together", arguments: TestEngine.all)
  func extremes(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((0..<120).map { post($0, likes: $0 % 40) })
      let dflat = workspace.dflat
      let query = dflat.query(Post.self)
      let groups = query.grouped(by: Post.likes, .max(Post.number), .min(Post.number), .count)
      let heard = Mutex<[String]>([])
      let subscription = dflat.subscribe(groups) { groups in
        heard.withLock { $0 = groups.map { "\($0)" } }
      }
      func expectSame() throws {
        #expect(try heard.withLock { $0 } == groups.fetch().map { "\($0)" })
      }
      // From one group, from several, from all.
      try workspace.remove([119])
      try expectSame()
      try workspace.remove((110..<119).map { $0 })
      try expectSame()
      try workspace.remove((80..<110).map { $0 })
      try expectSame()
      // The rest of some groups, and one of these comes back in the same transaction.
      try workspace.write([Post.self]) { txn in
        for number in [0, 40, 41, 42] as [Int32] {
          let request = try #require(Blog.PostChangeRequest.deletionRequest(post(number)))
          try txn.submit(request)
        }
        try txn.submit(Blog.PostChangeRequest.upsertRequest(post(7, likes: 0)))
      }
      try expectSame()
      #expect(heard.withLock { $0.count } == 40)
      subscription.cancel()
    }
  }

  @Test("Groups across relations are followed", arguments: TestEngine.all)
  func related(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      func settle() async throws { try await dflat.write(Writer.self, Story.self) { _ in } }
      let groups = dflat.query(Story.self).grouped(by: Story.writer.name, .count)
      let heard = Mutex<[String]>([])
      let subscription = dflat.subscribe(groups) { groups in
        heard.withLock { $0 = groups.map { "\($0.0 ?? "?") \($0.1)" } }
      }
      try await dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "Ada"))
        try txn.insert(contentsOf: [Story(id: 1, writer: "ada"), Story(id: 2, writer: "ben")])
      }
      try await settle()
      #expect(heard.withLock { $0 } == ["? 1", "Ada 1"])
      try await dflat.write(Writer.self) { try $0.insert(Writer(handle: "ben", name: "Ada")) }
      try await settle()
      #expect(heard.withLock { $0 } == ["Ada 2"])
      subscription.cancel()
    }
  }

  @Test("All keys of several fields, without the objects", arguments: TestEngine.all)
  func keys(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let stored = posts(&random)
        try workspace.store(stored)
        let query = workspace.dflat.query(Post.self)
        #expect(try query.keys() == stored.map(\.id))
        let liked = query.where(Post.likes == 2).orderBy(Post.number.descending)
        #expect(try liked.keys() == stored.filter { $0.likes == 2 }.reversed().map(\.id))
        #expect(try query.limit(0).keys() == [])
      }
    }
  }

  @Test("A reference is a field where a call takes one", arguments: TestEngine.all)
  func references(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Story.self) { txn in
        try txn.insert(contentsOf: [
          Story(id: 1, writer: "ben"), Story(id: 2, writer: "ada"), Story(id: 3, writer: "ben"),
        ])
      }
      let query = dflat.query(Story.self)
      let sections = try query.sectioned(by: Story.writer)
      #expect(sections.map(\.key) == ["ada", "ben"])
      #expect(sections.map { $0.map(\.id) } == [[2], [1, 3]])
      let ordered = try query.ordered(bySection: Story.writer, isDescending: true).fetch()
      #expect(ordered.map(\.id) == [1, 3, 2])
      #expect(
        try query.orderBy(["ada"].firstIndex(of: Story.writer)).fetch().map(\.id) == [1, 3, 2])
      let groups = try query.group(by: Story.writer, .count)
      #expect(groups.map { $0.1 } == [1, 2])
      let writers = try query.select(Story.writer.required, Story.id.required)
      #expect(writers.map { $0.0 } == ["ben", "ada", "ben"])
      let resident = try await dflat.resident(Story.self)
      #expect(resident.objects(where: Story.writer, is: "ben").map(\.id) == [1, 3])
      let changed = Mutex<[[Bool]]>([])
      let subscription = dflat.subscribe(changesOf: try query.fetch()) { change in
        changed.withLock {
          $0.append(change.updates.map { $0.changes(Story.writer) && !$0.changes(Story.likes) })
        }
      }
      try await dflat.write(Story.self) { txn in
        _ = try txn.update(Story(id: 1)) { $0.writer = "cid" }
      }
      #expect(changed.withLock { $0 } == [[true]])
      subscription.cancel()
    }
  }
}
