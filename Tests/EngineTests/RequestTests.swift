// Every kind of request in every way to ask it.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Requests")
struct RequestTests {
  private typealias Story = Guild.Story
  private typealias Writer = Guild.Writer

  /// A request, and what a test can do with it without its type.
  private struct Kind: Sendable {
    let name: String
    let isMaintained: Bool
    /// The answer as text, asked now.
    let fetch: @Sendable () throws -> String
    let following: @Sendable () throws -> [QueryExplanation.Following]
    /// Follows the answer as text: with a handler, as a stream, and as an observable object.
    let subscribe: @Sendable (any Workspace, Log<String>) -> any WorkspaceSubscription
    let onQueue: @Sendable (any Workspace, DispatchQueue, Log<String>) -> any WorkspaceSubscription
    let stream: @Sendable (any Workspace) -> @Sendable () async -> String?
    let live: @Sendable () throws -> @Sendable () -> String

    init<R: Request>(
      _ name: String, maintained: Bool, _ request: R,
      _ text: @escaping @Sendable (R.Answer) -> String
    ) {
      self.name = name
      isMaintained = maintained
      fetch = { text(try request.fetch()) }
      following = { try request.explain().map(\.following) }
      subscribe = { dflat, log in dflat.subscribe(request) { log.add(text($0)) } }
      onQueue = { dflat, queue, log in
        dflat.subscribe(request, on: queue) { log.add(text($0)) }
      }
      stream = { dflat in
        let values = dflat.values(of: request)
        return {
          var iterator = values.makeAsyncIterator()
          return await iterator.next().map(text)
        }
      }
      live = {
        let value = try LiveValue(request, on: nil)
        return { text(value.value) }
      }
    }
  }

  private func kinds(_ dflat: any Workspace) -> [Kind] {
    let stories = dflat.query(Story.self).where(Story.likes > 1)
      .orderBy(Story.likes.descending)
    return [
      Kind("objects", maintained: true, stories) { $0.map { "\($0.id):\($0.likes)" }.joined() },
      Kind("some objects", maintained: true, stories.offset(1).limit(2)) {
        $0.map { "\($0.id):\($0.likes)" }.joined()
      },
      Kind("one object", maintained: true, stories.firstObject) {
        $0.map { "\($0.id):\($0.likes)" } ?? "none"
      },
      Kind("an aggregate", maintained: true, stories.computing(.count)) { "\($0)" },
      Kind(
        "aggregates", maintained: true,
        stories.computing(.count, .sum(Story.likes), .max(Story.title))
      ) { "\($0)" },
      Kind("groups", maintained: true, stories.grouped(by: Story.writer, .count)) { "\($0)" },
      Kind("sections", maintained: true, stories.sectioning(by: Story.writer)) {
        $0.map { "\($0.key ?? "-")\($0.map(\.id))" }.joined()
      },
      Kind("a field", maintained: false, stories.selecting(Story.title)) { "\($0)" },
      Kind("a value", maintained: false, stories.selecting((Story.likes + 1).required)) { "\($0)" },
      Kind(
        "values", maintained: false,
        stories.selecting(Story.id.required, (Story.likes + 1).optional)
      ) { "\($0)" },
      Kind("keys", maintained: false, stories.listingKeys()) { "\($0)" },
      Kind("a page", maintained: false, stories.paging(size: 2)) {
        "\($0.objects.map(\.id)) \($0.next != nil)"
      },
      Kind("related objects", maintained: false, stories.including(Story.writer)) {
        $0.map { "\($0.object.id) \($0.related?.name ?? "-")" }.joined()
      },
      Kind(
        "pairs", maintained: false,
        stories.join(dflat.query(Writer.self), on: Story.title, Writer.name)
      ) { $0.map { "\($0.0.id) \($0.1.handle)" }.joined() },
      Kind(
        "objects by a condition on one other", maintained: true,
        stories.where(Story.writer.name == "Ada")
      ) { $0.map { "\($0.id):\($0.likes)" }.joined() },
      Kind(
        "objects by a condition on others", maintained: false,
        stories.where(Story.editor.name == "Ada")
      ) { $0.map { "\($0.id):\($0.likes)" }.joined() },
    ]
  }

  private static func change(_ dflat: any Workspace, _ random: inout SeededGenerator) throws {
    let id = Int64.random(in: 0..<6, using: &random)
    let likes = Int32.random(in: 0..<6, using: &random)
    let writer = random.pick(["ada", "ben", nil])
    let title = random.pick(["Ada", "Ben", "x"])
    try dflat.write(Story.self, Writer.self) { txn in
      switch Int.random(in: 0..<4, using: &random) {
      case 0: _ = try txn.delete(where: Story.id == id)
      case 1:
        try txn.upsert(Writer(handle: "ada", name: title))
      default:
        try txn.upsert(
          Story(id: id, title: title, likes: likes, writer: writer, editor: writer))
      }
    }
  }

  /// Returns when everything that was called before has been delivered.
  private func settle(_ dflat: any Workspace) throws {
    // What is asked again is enqueued by deliveries.
    for _ in 0..<2 { try dflat.write(Story.self, Writer.self) { _ in } }
  }

  @Test("Whatever is asked gives the same answer in every way", arguments: TestEngine.all)
  func answers(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        let queue = DispatchQueue(label: "program")
        let kinds = kinds(dflat)
        let logs = kinds.map { _ in (Log<String>(), Log<String>()) }
        let subscriptions = zip(kinds, logs).flatMap { kind, logs in
          [kind.subscribe(dflat, logs.0), kind.onQueue(dflat, queue, logs.1)]
        }
        let live = try kinds.map { try $0.live() }
        try settle(dflat)
        // Also an empty answer is delivered first.
        for (kind, logs) in zip(kinds, logs) {
          #expect(logs.0.events == [try kind.fetch()], "\(kind.name)")
        }
        for _ in 0..<12 {
          let before = try kinds.map { try $0.fetch() }
          let counts = logs.map { $0.0.events.count }
          try Self.change(dflat, &random)
          try settle(dflat)
          queue.sync {}
          for (index, kind) in kinds.enumerated() {
            let answer = try kind.fetch()
            let message: Comment = "\(kind.name), seed \(random.seed)"
            #expect(logs[index].0.events.last == answer, message)
            #expect(logs[index].1.events.last == answer, message)
            #expect(live[index]() == answer, message)
            if kind.isMaintained {
              let calls = logs[index].0.events.count - counts[index]
              #expect(before[index] == answer ? calls <= 1 : calls == 1, message)
            }
          }
        }
        for subscription in subscriptions { subscription.cancel() }
      }
    }
  }

  @Test("An explanation says how an answer follows the data", arguments: TestEngine.all)
  func explanations(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.dflat.write(Story.self, Writer.self) { try $0.insert(Story(id: 9)) }
      for kind in kinds(workspace.dflat) {
        let following = try kind.following()
        #expect(!following.isEmpty, "\(kind.name)")
        #expect(
          following.allSatisfy { $0 == (kind.isMaintained ? .maintained : .askedAgain) },
          "\(kind.name)")
      }
    }
  }

  @Test(
    "A stream begins with the answer and goes on with each other one", arguments: TestEngine.all)
  func streams(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      for kind in kinds(dflat) {
        let next = kind.stream(dflat)
        let first = try kind.fetch()
        #expect(await next() == first, "\(kind.name)")
        try await dflat.write(Story.self, Writer.self) { txn in
          try txn.delete(Story.self, where: .always)
          try txn.upsert(Writer(handle: "ada", name: "Ada"))
          try txn.insert(contentsOf: [
            Story(id: 1, title: kind.name, likes: 5, writer: "ada"),
            Story(id: 2, title: "Ada", likes: 2, writer: "ada"),
          ])
        }
        let second = try kind.fetch()
        if second != first { #expect(await next() == second, "\(kind.name)") }
      }
    }
  }

  @Test("On the main actor each answer is the newest", arguments: TestEngine.all)
  func mainActor(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await watchOnMain($0.dflat) }
  }

  @MainActor private final class Screen {
    var counts: [Int] = []
    var titles: [String?] = []
  }

  @MainActor
  private func watchOnMain(_ dflat: any Workspace) async throws {
    let screen = Screen()
    let stories = dflat.query(Story.self).orderBy(Story.id.ascending)
    let subscriptions: [any WorkspaceSubscription] = [
      dflat.subscribe(stories.computing(.count), on: .main) { screen.counts.append($0) },
      dflat.subscribe(stories.firstObject, on: .main) { screen.titles.append($0?.title) },
    ]
    for id in Int64(1)...3 {
      try await dflat.write(Story.self) { try $0.insert(Story(id: id, title: "\(id)")) }
    }
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(screen.counts.last == 3)
    #expect(screen.titles.last == "1")
    #expect(screen.counts.count <= 4)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test("Differences of a request begin with its objects", arguments: TestEngine.all)
  func differences(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) async throws in
      let dflat = workspace.dflat
      try await dflat.write(Story.self) { try $0.insert(Story(id: 1, title: "a", likes: 1)) }
      var list: [Story] = []
      var changes = dflat.changes(
        of: dflat.query(Story.self).orderBy(Story.likes.descending)
      ).makeAsyncIterator()
      await changes.next()?.apply(to: &list)
      #expect(list.map(\.id) == [1])
      try await dflat.write(Story.self) { try $0.insert(Story(id: 2, title: "b", likes: 2)) }
      await changes.next()?.apply(to: &list)
      #expect(list.map(\.id) == [2, 1])
    }
  }

  @Test("Following a question without an answer reports why", arguments: TestEngine.all)
  func refused(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let errors = Log<any Error>()
      dflat.errorHandler = { errors.add($0) }
      let log = Log<String>()
      for stories in [dflat.query(Story.self).limit(-1), dflat.query(Story.self).offset(-1)] {
        let subscriptions: [any WorkspaceSubscription] = [
          dflat.subscribe(stories) { log.add("\($0.count)") },
          dflat.subscribe(stories.firstObject) { log.add("\($0 == nil)") },
          dflat.subscribe(stories.computing(.count)) { log.add("\($0)") },
          dflat.subscribe(stories.grouped(by: Story.writer, .count)) { log.add("\($0)") },
          dflat.subscribe(stories.selecting(Story.title)) { log.add("\($0)") },
          dflat.subscribe(stories.paging(size: 2)) { log.add("\($0)") },
        ]
        try settle(dflat)
        try dflat.write(Story.self) {
          try $0.upsert(Story(id: 1, likes: Int32(errors.events.count)))
        }
        try settle(dflat)
        for subscription in subscriptions { subscription.cancel() }
      }
      #expect(log.events.isEmpty, "\(log.events)")
      #expect(errors.events.count >= 12)
      for error in errors.events { #expect((error as? QueryError)?.cause == .negativeCount) }
    }
  }

  @Test("A query of a closure is followed beyond it, and is asked in it only")
  func scopes() throws {
    try withTemporaryWorkspace(.memory) { workspace in
      let dflat = workspace.dflat
      let request = try dflat.read { $0.query(Story.self).computing(.count) }
      #expect(throws: WorkspaceError.escapedContext) { try request.fetch() }
      let log = Log<Int>()
      let subscription = dflat.subscribe(request) { log.add($0) }
      try dflat.write(Story.self) { try $0.insert(Story(id: 1)) }
      #expect(log.events == [0, 1])
      subscription.cancel()
    }
  }
}
