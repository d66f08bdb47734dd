// What each kind of question sees: a table of places, and of what every kind finds there.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("What questions see")
struct ViewTests {
  /// The kinds of questions.
  private enum Kind: String, CaseIterable {
    case fetch, key, first, count, aggregate, group, distinct, select, keys, page, stream
    case related, including, join, explain
  }

  /// What a question has found.
  private enum Seen: Equatable, CustomStringConvertible {
    case objects(Int)
    /// An explanation, and whether it converts objects of an older type.
    case plan(converts: Bool)
    case error(WorkspaceError?)

    var description: String {
      switch self {
      case .objects(let count): "\(count) objects"
      case .plan(let converts): converts ? "a plan that converts" : "a plan"
      case .error(let error): error.map { "\($0)" } ?? "another error"
      }
    }
  }

  /// Asks for all stories, whose ids begin at 1 and have no gaps, and which are all by Ada.
  private func ask(_ kind: Kind, _ dflat: any Workspace) -> Seen {
    let stories = dflat.query(Story.self)
    do {
      let count: Int
      switch kind {
      case .fetch: count = try stories.fetch().count
      case .key:
        count = try (1...9).filter { try stories.where(Story.id == $0).fetch().count == 1 }.count
      case .first: count = Int(try stories.orderBy(Story.id.descending).first()?.id ?? 0)
      case .count: count = try stories.count()
      case .aggregate: count = Int(try stories.max(Story.id) ?? 0)
      case .group: count = try stories.group(by: Story.id, .count).count
      case .distinct: count = try stories.distinct(Story.id).count
      case .select: count = try stories.select(Story.id).count
      case .keys: count = try stories.keys().count
      case .page: count = try stories.page(size: 100).objects.count
      case .stream:
        let stream = try stories.stream(portion: 2)
        count = stream.reduce(0) { count, _ in count + 1 }
        if let failure = stream.failure { throw failure }
      case .related: count = try stories.where(Story.writer.name == "Ada").count()
      case .including:
        count = try stories.including(Story.writer).fetch().filter { $0.related != nil }.count
      case .join:
        count = try dflat.join(Story.self, Story.self, on: Story.id, Story.id).fetch().count
      case .explain:
        return .plan(converts: try stories.explain().plan.contains { $0.contains("convert") })
      }
      return .objects(count)
    } catch { return .error(error as? WorkspaceError) }
  }

  /// The kinds of questions that see something else than expected.
  private func differences(
    _ place: String, _ dflat: any Workspace, see count: Int, converted: Bool = false
  ) -> [String] {
    Kind.allCases.compactMap { kind in
      let expected: Seen = kind == .explain ? .plan(converts: converted) : .objects(count)
      let seen = ask(kind, dflat)
      return seen == expected ? nil : "\(place), \(kind): \(seen) instead of \(expected)"
    }
  }

  private func differences(
    _ place: String, _ dflat: any Workspace, throw error: WorkspaceError
  ) -> [String] {
    Kind.allCases.compactMap { kind in
      let seen = ask(kind, dflat)
      return seen == .error(error) ? nil : "\(place), \(kind): \(seen) instead of \(error)"
    }
  }

  private func insert(_ id: Int64, _ dflat: any Workspace) throws {
    try dflat.write(Story.self) { try $0.insert(Story(id: id, writer: "ada")) }
  }

  private func within(_ dflat: any Workspace, _ body: () throws -> Void) throws {
    try dflat.fetchWithinASnapshot { Result { try body() } }.get()
  }

  @Test("Every kind of question sees the same, wherever it is asked", arguments: TestEngine.all)
  func everywhere(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try dflat.write(Writer.self) { try $0.insert(Writer(handle: "ada", name: "Ada")) }
      for id in 1...Int64(2) { try insert(id, dflat) }
      var all: [String] = []

      try dflat.read { context in
        _ = try context.query(Story.self).count()
        try insert(3, dflat)
        all += differences("in a read", dflat, see: 2)
      }
      try within(dflat) {
        _ = try dflat.query(Story.self).count()
        try insert(4, dflat)
        all += differences("in a snapshot", dflat, see: 3)
      }
      all += differences("outside", dflat, see: 4)
      try dflat.write(Writer.self, Story.self) { txn in
        let story = try txn.insert(Story(id: 5, writer: "ada"))
        all += differences("in a transaction", dflat, see: 5)
        try txn.delete(story)
      }

      // Of a function's calls the first one asks.
      let inFunction = Mutex<[String]?>(nil)
      let asking = Function("asking") { (id: Int64) in
        if inFunction.withLock({ $0 == nil }) {
          let found = differences("in a function", dflat, throw: .calledByFunction)
          inFunction.withLock { $0 = found }
        }
        return id
      }
      #expect(try dflat.query(Story.self).where(asking(Story.id) > 0).count() == 4)
      all += try #require(inFunction.withLock { $0 })
      _ = workspace.errors.takeAll()

      // Notes are stories of an older version, which cannot be migrated at first.
      try dflat.write(Note.self) { txn in
        for key in 5...UInt64(6) { try txn.insert(Note(key: key)) }
      }
      let hold = DispatchSemaphore(value: 0)
      dflat.performChanges([Note.self]) { _ in hold.wait() }
      dflat.migrateWhenUsed(
        Migration(from: Note.self, to: Story.self) { Story(id: Int64($0.key), writer: "ada") })
      all += differences("outside, half migrated", dflat, see: 6, converted: true)
      try within(dflat) {
        _ = try dflat.query(Story.self).count()
        hold.signal()
        try insert(7, dflat)
        all += differences("in a half migrated snapshot", dflat, see: 6, converted: true)
      }
      all += differences("outside, migrated", dflat, see: 7)

      try within(dflat) {
        _ = try dflat.query(Story.self).count()
        dflat.shutdown {}
        all += differences("in a snapshot after the shutdown", dflat, see: 7)
      }
      dflat.shutdown()
      all += differences("after the shutdown", dflat, throw: .shutDown)
      #expect(all == [])
    }
  }
}
