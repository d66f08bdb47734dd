// Taking changes back that concern references: nothing else is deleted or changed.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

@Suite("References, and changes that are taken back")
struct RevertedRelationTests {
  @Test(
    "Objects that were moved to a new one go back before it is deleted", arguments: TestEngine.all)
  func moved(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      // By rules that delete, change and forbid.
      let story = Story(id: 1, title: "t", writer: "ada", editor: "ada", labels: ["red"])
      let stamp = Stamp(id: 1, label: "red", stories: [1])
      try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
        try txn.insert(Writer(handle: "ada"))
        try txn.insert(Label(name: "red"))
        try txn.insert(story)
        try txn.insert(stamp)
      }
      let changes = try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
        try txn.revertible {
          try txn.insert(Writer(handle: "ben"))
          try txn.insert(Label(name: "blue"))
          try txn.insert(Story(id: 2, writer: "ben", parent: 1))
          try txn.update(story) {
            $0.writer = "ben"
            $0.editor = "ben"
            $0.labels = ["blue", "red"]
          }
          try txn.update(stamp) {
            $0.label = "blue"
            $0.stories = [2, 1]
          }
        }
      }
      let reversal = try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) {
        try $0.revert(changes)
      }
      #expect(reversal.isComplete && reversal.reverted == 5, "\(reversal)")
      #expect(dflat.fetch(for: Writer.self).all().map(\.handle) == ["ada"])
      #expect(dflat.fetch(for: Label.self).all().map(\.name) == ["red"])
      #expect(dflat.fetch(for: Story.self).all() == FetchedResult([story]))
      #expect(dflat.fetch(for: Stamp.self).all() == FetchedResult([stamp]))
    }
  }

  @Test(
    "An inserted object stays if another one refers to it by now, whatever the rule",
    arguments: TestEngine.all)
  func referredTo(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let changes = try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
        try txn.revertible {
          for name in ["a", "b", "c", "d"] { try txn.insert(Writer(handle: name)) }
          try txn.insert(Writer(handle: "e", mentor: "d"))
          try txn.insert(Label(name: "red"))
        }
      }
      let others = [Story(id: 1, writer: "a"), Story(id: 2, editor: "b"), Story(id: 3)]
      try dflat.write(Writer.self, Story.self, Stamp.self) { txn in
        try txn.insert(contentsOf: others)
        try txn.insert(Stamp(id: 1, label: "red", owner: "c"))
        // It stays, so its mentor does.
        try txn.update(Writer(handle: "e")) { $0.name = "E" }
      }
      let reversal = try dflat.write(Writer.self, Story.self, Label.self) {
        try $0.revert(changes)
      }
      // The owner's reference has no rule.
      #expect(dflat.fetch(for: Writer.self).all().map(\.handle) == ["a", "b", "d", "e"])
      #expect(dflat.fetch(for: Story.self).all() == FetchedResult(others))
      #expect(dflat.fetch(for: Label.self).all().map(\.name) == ["red"])
      #expect(reversal.reverted == 1)
      let texts = Set(reversal.remainders.map(\.description))
      #expect(
        texts.contains(
          "Writer (handle: \"a\"): deletionDenied: Writer (handle: \"a\") is not deleted: "
            + "writer of Story (id: 1) refers to it; delete that Story first, or set its writer"),
        "\(texts)")
      #expect(
        Set(reversal.remainders.map(\.key)) == [
          "handle: \"a\"", "handle: \"b\"", "handle: \"d\"", "handle: \"e\"", "name: \"red\"",
        ])
    }
  }

  @Test("A reference that had no object before is no reason to keep one", arguments: TestEngine.all)
  func withoutObject(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let story = Story(id: 1, title: "t")
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada"))
        try txn.insert(story)
      }
      let changes = try dflat.write(Writer.self, Story.self) { txn in
        try txn.revertible {
          try txn.delete(Writer(handle: "ada"))
          try txn.update(story) { $0.writer = "ada" }
        }
      }
      let redo = try dflat.write(Writer.self, Story.self) { txn in
        try txn.revertible { try txn.revert(changes) }
      }
      #expect(dflat.find(Writer.self, "ada") != nil)
      #expect(dflat.fetch(for: Story.self).all() == FetchedResult([story]))
      let redone = try dflat.write(Writer.self, Story.self) { try $0.revert(redo) }
      #expect(redone.isComplete, "\(redone)")
      #expect(dflat.find(Writer.self, "ada") == nil)
      #expect(dflat.find(Story.self, 1)?.writer == "ada")
    }
  }

  @Test("A key that an object gives up and another one takes", arguments: TestEngine.all)
  func takenKey(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let story = Story(id: 1, writer: "ada")
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(Writer(handle: "ada", name: "A"))
        try txn.insert(story)
      }
      let changes = try dflat.write(Writer.self, Story.self) { txn in
        try txn.revertible {
          try txn.update(Writer(handle: "ada")) { $0.handle = "old" }
          try txn.insert(Writer(handle: "ada", name: "B"))
        }
      }
      let reversal = try dflat.write(Writer.self, Story.self) { try $0.revert(changes) }
      #expect(reversal.isComplete, "\(reversal)")
      #expect(
        dflat.fetch(for: Writer.self).all() == FetchedResult([Writer(handle: "ada", name: "A")]))
      #expect(dflat.fetch(for: Story.self).all() == FetchedResult([story]))
    }
  }
}
