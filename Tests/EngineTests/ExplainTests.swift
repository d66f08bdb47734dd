// Explanations of what is not a plain fetch.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story

@Suite("Explanations")
struct ExplainTests {
  private func store(_ dflat: any Workspace) throws {
    try dflat.write(Writer.self, Story.self) { txn in
      try txn.insert(contentsOf: [
        Writer(handle: "ada", name: "Ada"), Writer(handle: "ben", name: "Ben"),
      ])
      try txn.insert(contentsOf: [
        Story(id: 1, title: "Ada", likes: 3, writer: "ada"), Story(id: 2, likes: 5, writer: "ben"),
      ])
    }
  }

  @Test("Both sides of included objects are explained", arguments: [TestEngine.sqlite, .memory])
  func included(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let targets = try dflat.query(Story.self).where(Story.likes > 2).including(Story.writer)
        .explain()
      #expect(targets.objects.indexedFields == ["likes"])
      #expect(targets.related.indexedFields == ["handle"])
      let inverse = try dflat.query(Writer.self).including(Writer.stories).explain()
      #expect(inverse.objects.indexes.isEmpty)
      #expect(inverse.related.indexedFields == ["writer"])
      // In a transaction as well.
      try dflat.write(Writer.self, Story.self) { txn in
        let related = try txn.query(Story.self).including(Story.writer).explain().related
        #expect(related.indexedFields == ["handle"])
      }
    }
  }

  @Test("Both sides of a join are explained", arguments: [TestEngine.sqlite, .memory])
  func joined(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let plan = try dflat.join(Story.self, Writer.self, on: Story.writer, Writer.handle)
        .where(Story.likes > 2).explain()
      #expect(plan.first.indexedFields == ["likes"])
      #expect(plan.second.indexedFields == ["handle"])
      let slow = try dflat.join(Story.self, Writer.self, on: Story.title, Writer.name).explain()
      #expect(slow.first.indexes.isEmpty && slow.second.indexes.isEmpty)
      #expect(slow.second.rowByRow?.contains("name") == true)
    }
  }

  @Test(
    "Computed values, aggregates and groups are explained", arguments: [TestEngine.sqlite, .memory])
  func values(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { (workspace: TemporaryWorkspace) throws in
      let dflat = workspace.dflat
      try store(dflat)
      let liked = dflat.query(Story.self).where(Story.likes > 2)
      let plans = [
        try liked.explain(selecting: Story.likes.required),
        try liked.explain(selecting: Story.id.required, (Story.likes + 1).optional),
        try liked.explain(computing: .count),
        try liked.explain(computing: .max(Story.likes), .sum(Story.likes + 1)),
        try liked.grouped(by: Story.likes, .count).explain(),
        try liked.grouped(by: Story.title, .max(Story.likes)).explain(),
        // Values of other objects.
        try liked.explain(computing: .max(Story.writer.age)),
        try liked.grouped(by: Story.writer.name, .count).explain(),
      ]
      #expect(plans.allSatisfy { $0.indexedFields == ["likes"] }, "\(plans)")
      if engine.testDescription == TestEngine.sqlite.testDescription {
        #expect(
          plans.map(\.isCovering) == [true, false, true, false, true, false, false, false])
      }
    }
  }
}
