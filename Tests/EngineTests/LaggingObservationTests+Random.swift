// Random changes by two workspaces, beside everything that one of them watches.

import Dflat
import DflatTestSupport
import Platform
import SeededRandom
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

extension LaggingObservationTests {
  @Test("Random changes by two workspaces", arguments: TestEngine.all)
  func random(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let other = workspace.reopened().dflat
      // Others are followed before the type of the stories is observed.
      let ages = try Latest(dflat.query(Writer.self), in: dflat)
      try await other.write(Writer.self) { try $0.insert(Writer(handle: "w0", age: 0)) }
      try await dflat.write(Writer.self) { try $0.insert(Writer(handle: "w1", age: 1)) }
      #expect(eventually { ages.objects.count == 2 })
      let stories = dflat.query(Story.self)
      let few = stories.where(Story.likes < 5)
      let watched = try Watched(
        [
          stories, stories.orderBy(Story.likes.ascending), few.orderBy(Story.likes.ascending),
          stories.orderBy(Story.writer.age.ascending),
          stories.orderBy(Story.likes.descending, Story.title.ascending).limit(4),
          stories.where(Story.likes > 2).orderBy(Story.title.ascending).limit(3),
          stories.where(Story.writer.age > 1 || Story.likes > 6)
            .orderBy(Story.writer.age.descending, Story.likes.ascending).limit(4),
          stories.where(Story.likes > 3 && Story.writer.age > 1).orderBy(Story.likes.ascending),
        ], counted: few, keys: await dflat.keySet(of: few),
        resident: await dflat.resident(Story.self), in: dflat)
      try await beyondTasks { try withSeed { try change(dflat, beside: other, watched, &$0) } }
      await other.shutdown()
    }
  }

  /// What is watched of stories.
  private struct Watched: Sendable {
    let queries: [ObjectQuery<Story>]
    let results: [Latest<Story>]
    let counted: ObjectQuery<Story>
    let counts = Log<Int>()
    /// How many stories there are, and the sum of their likes.
    let sums = Log<(Int, Int)>()
    /// The same by title.
    let groups = Log<[(Int, Int)]>()
    let keys: KeySet<Story>
    let resident: Resident<Story>
    let subscriptions: [any WorkspaceSubscription]

    init(
      _ queries: [ObjectQuery<Story>], counted: ObjectQuery<Story>, keys: KeySet<Story>,
      resident: Resident<Story>, in dflat: any Workspace
    ) throws {
      self.queries = queries
      results = try queries.map { try Latest($0, in: dflat) }
      self.counted = counted
      self.keys = keys
      self.resident = resident
      let all = queries[0]
      subscriptions = [
        dflat.subscribe(counted.computing(.count)) { [counts] in counts.add($0) },
        dflat.subscribe(all.computing(.count, .sum(Story.likes))) { [sums] in
          sums.add(($0.0, Int($0.1 ?? 0)))
        },
        dflat.subscribe(all.grouped(by: Story.title, .count, .sum(Story.likes))) { [groups] in
          groups.add($0.map { (_, count, sum) in (count, sum.map { Int($0) } ?? 0) })
        },
      ]
    }

    /// What no state of the stories has: there are at most 14 of them, each with 0 to 9 likes.
    func impossible() -> [String] {
      func isPossible(_ count: Int, _ sum: Int) -> Bool {
        0...14 ~= count && 0...(9 * count) ~= sum
      }
      var impossible: [String] = []
      for (index, result) in results.enumerated() {
        let ids = result.objects.map(\.id)
        if Set(ids).count != ids.count { impossible.append("result \(index) has \(ids)") }
      }
      if !counts.events.allSatisfy({ isPossible($0, 0) }) { impossible.append("count") }
      if !sums.events.allSatisfy({ isPossible($0.0, $0.1) }) { impossible.append("sum") }
      if !groups.events.joined().allSatisfy({ isPossible($0.0, $0.1) }) {
        impossible.append("groups")
      }
      return impossible
    }

    /// What is not as it is stored.
    func outdated() throws -> [String] {
      var outdated: [String] = []
      for (index, (query, result)) in zip(queries, results).enumerated() {
        if try result.objects != Array(query.fetch()) { outdated.append("result \(index)") }
      }
      let few = try counted.fetch()
      if counts.events.last != few.count { outdated.append("count") }
      let stored = try queries[0].fetch()
      let sum = stored.reduce(0) { $0 + Int($1.likes) }
      if sums.events.last.map({ $0 == (stored.count, sum) }) != true { outdated.append("sum") }
      let groups = groups.events.last ?? []
      if groups.reduce(0, { $0 + $1.0 }) != stored.count || groups.reduce(0, { $0 + $1.1 }) != sum {
        outdated.append("groups")
      }
      if Set(keys.keys) != Set(few.map(\.id)) { outdated.append("keys") }
      let all = try queries[0].fetch().sorted { $0.id < $1.id }
      if resident.all.sorted(by: { $0.id < $1.id }) != all { outdated.append("resident") }
      return outdated
    }
  }

  private struct Outdated: Error {
    let what: [String]
  }

  /// Changes stories and writers by both workspaces, and compares what is watched with what is
  /// stored behind each change that the first one has made.
  private func change(
    _ dflat: any Workspace, beside other: any Workspace, _ watched: Watched,
    _ random: inout SeededGenerator
  ) throws {
    try dflat.write(Writer.self) { txn in
      for number in 0..<4 {
        try txn.upsert(Writer(handle: "w\(number)", age: Int32(number)))
      }
    }
    for _ in 0..<(isLongRun ? 1000 : 60) {
      func change(_ txn: WriteContext) throws {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let story = Story(
            id: Int64.random(in: 1...14, using: &random),
            title: random.pick(["a", "b", "c"]), likes: .random(in: 0...9, using: &random),
            writer: random.pick(["w0", "w1", "w2", "w3", nil]))
          switch Int.random(in: 0..<6, using: &random) {
          case 0: _ = try txn.delete(story)
          case 1:
            try txn.upsert(
              Writer(
                handle: random.pick(["w0", "w1", "w2", "w3"]),
                age: .random(in: 0...5, using: &random)))
          default: try txn.upsert(story)
          }
        }
      }
      if random.oneIn(2) {
        try other.write(Story.self, Writer.self) { try change($0) }
        continue
      }
      let before = try watched.queries[0].fetch()
      try dflat.write(Story.self, Writer.self) { try change($0) }
      // What another connection had deleted or stored before needed no change.
      if try watched.queries[0].fetch() == before { continue }
      // Results across relations are read again soon after.
      if try !eventually({ try watched.outdated().isEmpty }) {
        throw Outdated(what: try watched.outdated())
      }
      let impossible = watched.impossible()
      if !impossible.isEmpty { throw Outdated(what: impossible) }
    }
  }
}
