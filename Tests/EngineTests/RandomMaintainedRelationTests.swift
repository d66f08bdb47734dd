// Random transactions against results that look through relations: each result is what a fetch
// gives, and each transaction that changes it is delivered once.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Random maintained results across relations", .endsSometime)
struct RandomMaintainedRelationTests {
  private static let handles = ["ada", "ben", "cid", "dee"]
  private static let names = ["Ada", "Ben", "x", nil]

  private static func condition(_ random: inout SeededGenerator) -> Condition<Guild.Story>? {
    let number = Int32.random(in: 0...3, using: &random)
    let name = random.pick(["Ada", "Ben", "x"])
    let leaves: [Condition<Guild.Story>] = [
      Story.writer.name == name, Story.writer.age > number, Story.writer.isActive == true,
      Story.writer.name.isNull, Story.writer.related.isNotNull, Story.writer.related.isNull,
      Story.writer.name == Story.title, Story.writer.age <= Story.likes,
      (Story.writer.name == name).isNull, Story.writer.mentor.in(["ada", "ben"]),
      Story.likes > number, Story.writer == "ada", Story.title.isNotNull,
      Story.writer.languages.count > 0, Story.labels.contains("red"),
    ]
    if random.oneIn(5) { return nil }
    let (left, right) = (random.pick(leaves), random.pick(leaves))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return left && right
    case 1: return left || right
    case 2: return !left
    case 3: return left && !right
    default: return left
    }
  }

  private static func query(
    _ dflat: any Workspace, _ random: inout SeededGenerator
  ) -> ObjectQuery<Guild.Story> {
    let orders: [[OrderBy<Guild.Story>]] = [
      [], [Story.writer.name.ascending], [Story.writer.age.descending, Story.likes.ascending],
      [Story.likes.descending], [Story.title.ascending, Story.writer.name.descending],
      [["Ben", "Ada"].firstIndex(of: Story.writer.name)],
    ]
    var query = dflat.query(Story.self)
    if let condition = condition(&random) { query = query.where(condition) }
    query = query.orderBy(random.pick(orders))
    if random.oneIn(2) { query = query.limit(random.pick(0...6)) }
    return random.oneIn(3) ? query.offset(random.pick(1...3)) : query
  }

  private static func writer(
    _ handle: String, _ random: inout SeededGenerator
  ) -> Guild.Writer {
    Writer(
      handle: handle, name: random.pick(names), age: random.pick([nil, 0, 1, 2, 3]),
      isActive: random.oneIn(2), mentor: random.oneIn(2) ? nil : random.pick(handles),
      languages: random.oneIn(2) ? [] : ["en"])
  }

  private static func story(_ id: Int64, _ random: inout SeededGenerator) -> Guild.Story {
    Story(
      id: id, title: random.pick(names), likes: random.pick(0...3),
      writer: random.pick(handles + [nil]), labels: random.oneIn(2) ? [] : ["red"])
  }

  private static func changeWriters(
    _ txn: WriteContext, _ random: inout SeededGenerator
  ) throws {
    let handle = random.pick(handles)
    if random.oneIn(6) {
      try txn.delete(where: Writer.handle == handle)
    } else if random.oneIn(2) {
      try txn.upsert(writer(handle, &random))
    } else if let old = try txn.query(Writer.self).where(Writer.handle == handle).first() {
      // One field, as programs mostly do.
      let other = writer(handle, &random)
      try txn.update(old) { draft in
        switch other.languages.count + Int(other.age ?? 0) {
        case 0: draft.name = other.name
        case 1: draft.age = other.age
        default: draft.isActive.toggle()
        }
      }
    }
  }

  private static func changeStories(
    _ txn: WriteContext, _ random: inout SeededGenerator
  ) throws {
    let id = Int64.random(in: 0..<20, using: &random)
    if random.oneIn(4) {
      try txn.delete(where: Story.id == id)
    } else {
      try txn.upsert(story(id, &random))
    }
  }

  /// A transaction over one type or both.
  private static func transact(
    _ dflat: any Workspace, _ random: inout SeededGenerator
  ) throws {
    let count = random.pick([1, 1, 1, 2, 5, 12])
    let kind = Int.random(in: 0..<3, using: &random)
    let isAborted = random.oneIn(10)
    struct Aborted: Error {}
    do {
      switch kind {
      case 0:
        try dflat.write(Writer.self) { txn in
          for _ in 0..<count { try changeWriters(txn, &random) }
          if isAborted { throw Aborted() }
        }
      case 1:
        try dflat.write(Story.self) { txn in
          for _ in 0..<count { try changeStories(txn, &random) }
          if isAborted { throw Aborted() }
        }
      default:
        try dflat.write(Story.self, Writer.self) { txn in
          for _ in 0..<count {
            if random.oneIn(2) {
              try changeWriters(txn, &random)
            } else {
              try changeStories(txn, &random)
            }
          }
          if isAborted { throw Aborted() }
        }
      }
    } catch is Aborted {}
  }

  private static func same(_ left: [Guild.Story], _ right: [Guild.Story]) -> Bool {
    left.map(\._rowid) == right.map(\._rowid) && left == right
  }

  @Test(
    "Each transaction that changes a result is delivered once, and the result is a fresh fetch",
    arguments: TestEngine.inEveryIndexState)
  func model(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 100 : 1) {
        try withTemporaryWorkspace(engine) { workspace in
          let dflat = workspace.dflat
          for _ in 0..<10 { try Self.transact(dflat, &random) }
          try workspace.disturbIndexes(of: Story._schema, using: &random)
          let queries = (0..<20).map { _ in Self.query(dflat, &random) }
          let logs = queries.map { _ in Log<[Guild.Story]>() }
          let subscriptions = try zip(queries, logs).map { query, log in
            if random.oneIn(2) {
              return dflat.subscribe(query) { log.add($0.underlyingArray) }
            }
            let result = try query.fetch()
            log.add(result.underlyingArray)
            return dflat.subscribe(fetchedResult: result) { log.add($0.underlyingArray) }
          }
          try dflat.write(Story.self, Writer.self) { _ in }
          for step in 0..<40 {
            let before = logs.map { ($0.events.count, $0.events.last ?? []) }
            try Self.transact(dflat, &random)
            for (index, query) in queries.enumerated() {
              let now = try query.fetch().underlyingArray
              let new = logs[index].events.dropFirst(before[index].0)
              let expected = Self.same(before[index].1, now) ? 0 : 1
              let isRight =
                new.count == expected && Self.same(new.last ?? before[index].1, now)
              if isRight { continue }
              Issue.record(
                """
                DFLAT_SEED=\(random.seed), step \(step), query \(index): \(try query.explain()) \
                had \(before[index].1.map(\.id)), \
                got \(new.map { $0.map(\.id) }) and not \(now.map(\.id))
                """)
              return
            }
          }
          for subscription in subscriptions { subscription.cancel() }
        }
      }
    }
  }

  // MARK: Writers of both types at once

  /// The states of a type between its transactions, in their order.
  private final class States<Element: Sendable>: Sendable {
    let all = Mutex<[[Element]]>([])
  }

  /// What the query of `concurrent` gives.
  private static func answer(
    _ stories: [Guild.Story], _ writers: [Guild.Writer]
  ) -> [Int64] {
    let ages = Dictionary(
      uniqueKeysWithValues: writers.filter { $0.name == "Ada" }.map { ($0.handle, $0.age ?? -1) })
    let matching = stories.compactMap { story in
      story.writer.flatMap { ages[$0] }.map { (story.id, $0) }
    }
    let sorted = matching.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    return sorted.prefix(3).map { $0.0 }
  }

  @Test(
    "Concurrent writers of both types: a result goes through states of both, and skips none",
    arguments: TestEngine.all)
  func concurrent(engine: TestEngine) throws {
    let seed = testSeed()
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Writer.self, Story.self) { txn in
        var random = SeededGenerator(seed: seed)
        try txn.insert(contentsOf: Self.handles.map { Self.writer($0, &random) })
        try txn.insert(contentsOf: (0..<6).map { Self.story($0, &random) })
      }
      let query = dflat.query(Story.self).where(Story.writer.name == "Ada")
        .orderBy(Story.writer.age.descending, Story.id.ascending).limit(3)
      let log = Log<[Int64]>()
      let subscription = dflat.subscribe(query) { log.add($0.map(\.id)) }
      try dflat.write(Writer.self, Story.self) { _ in }
      let (stories, writers) = (States<Guild.Story>(), States<Guild.Writer>())
      stories.all.withLock { $0 = [Array(dflat.fetch(for: Story.self).all())] }
      writers.all.withLock { $0 = [Array(dflat.fetch(for: Writer.self).all())] }
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        for _ in 0..<30 {
          do {
            if number == 0 {
              let now = try dflat.write(Story.self) { txn in
                try txn.upsert(Self.story(Int64.random(in: 0..<8, using: &random), &random))
                return Array(try txn.query(Story.self).fetch())
              }
              stories.all.withLock { $0.append(now) }
            } else {
              let now = try dflat.write(Writer.self) { txn in
                try txn.upsert(Self.writer(random.pick(Self.handles), &random))
                return Array(try txn.query(Writer.self).fetch())
              }
              writers.all.withLock { $0.append(now) }
            }
          } catch { Issue.record(error, "DFLAT_SEED=\(seed)") }
        }
      }
      try dflat.write(Writer.self, Story.self) { _ in }
      let now = try query.fetch().map { $0.id }
      #expect(log.events.last == now, "DFLAT_SEED=\(seed)")
      Self.expectPath(
        log.events, stories.all.withLock(\.self), writers.all.withLock(\.self), seed)
      subscription.cancel()
    }
  }

  /// Expects that some order of the transactions of both types gives these results.
  private static func expectPath(
    _ events: [[Int64]], _ stories: [[Guild.Story]], _ writers: [[Guild.Writer]], _ seed: UInt64
  ) {
    let answers = stories.map { story in writers.map { Self.answer(story, $0) } }
    #expect(events.first == answers[0][0], "DFLAT_SEED=\(seed)")
    // For each state of both types, the numbers of results that may have been delivered by then.
    var reached = stories.map { _ in writers.map { _ in Set<Int>() } }
    reached[0][0] = [1]
    for row in stories.indices {
      for column in writers.indices {
        func go(_ nextRow: Int, _ nextColumn: Int) {
          guard nextRow < stories.count, nextColumn < writers.count else { return }
          let (now, next) = (answers[row][column], answers[nextRow][nextColumn])
          for count in reached[row][column] {
            // The rows may differ though the keys are the same.
            if now == next { reached[nextRow][nextColumn].insert(count) }
            if count < events.count, events[count] == next {
              reached[nextRow][nextColumn].insert(count + 1)
            }
          }
        }
        go(row + 1, column)
        go(row, column + 1)
      }
    }
    #expect(
      reached[stories.count - 1][writers.count - 1].contains(events.count),
      "DFLAT_SEED=\(seed): no order of the transactions gives \(events)")
  }
}
