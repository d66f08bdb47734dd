// Searches together with other conditions: what is left to be checked on rows, and what is found.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Searches and other conditions")
struct SearchPlanTests {
  private typealias Story = Tale.Story

  private func store(_ stories: [Story], in workspace: some TestWorkspace) throws {
    try workspace.write([Story.self]) { txn in
      for story in stories { try txn.submit(Tale.StoryChangeRequest.creationRequest(story)) }
    }
  }

  @Test("What an index has answered is not checked on rows", arguments: TestEngine.all)
  func plans(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try store(
        (1...30).map { Story(id: $0, title: "hello \($0)", year: $0, note: "n\($0 % 3)") },
        in: workspace)
      let stories = workspace.dflat.fetch(for: Story.self)
      let (search, year, note) = (Story.search("hello -7"), Story.year > 4, Story.note == "n1")
      func text(_ condition: Condition<Story>) -> String {
        condition._node.text(in: Story._schema)
      }
      let all = search && year && note
      let rest =
        switch engine.testDescription {
        case "SQLite": text(note)
        // These have no index of words, or one that gives candidates.
        case "restricted memory": text(all)
        default: text(search && note)
        }
      for _ in 0..<2 {
        #expect(try stories.explain(where: all).rowByRow == rest, "\(engine)")
        #expect(stories.where(all).map(\.id) == [10, 13, 16, 19, 22, 25, 28])
        // A transaction and a snapshot use the same indexes.
        try workspace.write([Story.self]) { txn in
          let plan = try stories.explain(where: all)
          #expect(plan.rowByRow == rest, "\(engine)")
          #expect(stories.where(all).map(\.id) == [10, 13, 16, 19, 22, 25, 28])
        }
        workspace.dflat.fetchWithinASnapshot {
          #expect(stories.where(all).map(\.id) == [10, 13, 16, 19, 22, 25, 28])
        }
      }
    }
  }

  // MARK: Random conditions

  @Test(
    "Random conditions with searches against a filter, everywhere where they can be asked",
    arguments: TestEngine.inEveryIndexState)
  func random(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 40 : 1) { try round(engine, &random) }
    }
  }

  private func story(_ id: Int32, _ random: inout SeededGenerator) -> Story {
    func text(_ most: Int) -> String? {
      random.oneIn(4) ? nil : RandomWords.text(&random, most: most)
    }
    let quote = text(3)
    return Story(
      id: id, title: text(6), body: text(12),
      extra: random.oneIn(3) ? .cover(Tale.Cover(path: "p")) : .quote(Tale.Quote(text: quote)),
      year: Int32.random(in: 0..<6, using: &random),
      note: random.oneIn(3) ? nil : random.pick(["a", "b", "c"]))
  }

  private func condition(_ random: inout SeededGenerator, depth: Int = 0) -> Condition<Story> {
    switch Int.random(in: depth > 2 ? 3..<12 : 0..<12, using: &random) {
    case 0, 1:
      return condition(&random, depth: depth + 1) && condition(&random, depth: depth + 1)
    case 2:
      let parts = (condition(&random, depth: depth + 1), condition(&random, depth: depth + 1))
      return random.oneIn(2) ? parts.0 || parts.1 : !(parts.0 && parts.1)
    case 3, 4, 5: return Condition(Story.search(RandomWords.search(&random))._node)
    case 6: return Condition(Story.title.search(RandomWords.search(&random))._node)
    case 7: return Story.year > Int32.random(in: 0..<6, using: &random)
    case 8: return Story.year.in([1, Int32.random(in: 0..<6, using: &random)])
    case 9: return Story.note == random.pick(["a", "b"])
    case 10: return random.oneIn(2) ? Story.note == nil : Story.title.isNotNull
    default: return Story.extra.match(Tale.Quote.self)
    }
  }

  private func round(_ engine: TestEngine, _ generator: inout SeededGenerator) throws {
    var random = generator
    defer { generator = random }
    try withTemporaryWorkspace(engine) { workspace in
      let stories = workspace.dflat.fetch(for: Story.self)
      try store((1...30).map { story($0, &random) }, in: workspace)
      func compare(_ place: String) {
        let all = stories.all()
        for _ in 0..<8 {
          let condition = condition(&random)
          let program = Program(condition._node)
          let expected = all.filter { story in
            story._row.read { program.evaluate($0) == .true }
          }
          #expect(
            stories.where(condition).map(\.id) == expected.map(\.id),
            "DFLAT_SEED=\(random.seed), \(engine), \(place): \(condition._node.text(in: Story._schema))"
          )
        }
      }
      for step in 0..<4 as Range<Int32> {
        try workspace.disturbIndexes(of: Story._schema, using: &random)
        compare("committed")
        workspace.dflat.fetchWithinASnapshot {
          compare("snapshot")
          onAnotherThread {
            _ = try? workspace.write([Story.self]) { txn in
              let new = Story(id: 50 + step, title: "hello", year: step, note: "a")
              try txn.submit(Tale.StoryChangeRequest.creationRequest(new))
            }
          }
          compare("older snapshot")
        }
        try workspace.write([Story.self]) { txn in
          let id = Int32.random(in: 1...30, using: &random)
          if let stored = stories.where(Story.id == id).first,
            let request = Tale.StoryChangeRequest.changeRequest(stored)
          {
            request.title = RandomWords.text(&random)
            request.year += 1
            try txn.submit(request)
          }
          try txn.submit(Tale.StoryChangeRequest.creationRequest(story(100 + step, &random)))
          compare("transaction")
          if random.oneIn(2) { txn.abort() }
        }
        compare("after a transaction")
      }
    }
  }
}
