// Random changes of objects that refer to each other, which are taken back at once or later. Taken
// back at once, they leave what was before them; what they have not touched, they never touch.

import Dflat
import DflatTestSupport
import Testing

private typealias Writer = Guild.Writer
private typealias Story = Guild.Story
private typealias Label = Guild.Label
private typealias Stamp = Guild.Stamp

@Suite("Random references, and changes that are taken back")
struct RandomRevertedRelationTests {
  @Test("Undone and redone at once, everything is as before", arguments: TestEngine.all)
  func atOnce(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        let note = Comment(rawValue: "DFLAT_SEED=\(random.seed)")
        for _ in 0..<(isLongRun ? 500 : 10) {
          _ = try change(dflat, 6, &random)
          let before = State(dflat)
          let changes = try change(dflat, 6, &random)
          let after = State(dflat)
          let (undo, undone) = try revert(changes, dflat)
          #expect(undone.isComplete && undone.reverted == changes.count, note)
          #expect(State(dflat) == before, note)
          let (_, redone) = try revert(undo, dflat)
          #expect(redone.isComplete, note)
          #expect(State(dflat) == after, note)
        }
      }
    }
  }

  @Test("Undone after other changes, nothing else is deleted or changed", arguments: TestEngine.all)
  func later(engine: TestEngine) throws {
    try withSeed { random in
      try withTemporaryWorkspace(engine) { workspace in
        let dflat = workspace.dflat
        let note = Comment(rawValue: "DFLAT_SEED=\(random.seed)")
        for _ in 0..<(isLongRun ? 500 : 10) {
          _ = try change(dflat, 6, &random)
          let before = State(dflat)
          let changes = try change(dflat, 4, &random)
          let after = State(dflat)
          _ = try change(dflat, 4, &random)
          let current = State(dflat)
          let (_, reversal) = try revert(changes, dflat)
          let result = State(dflat)
          #expect(reversal.reverted + reversal.remainders.count == changes.count, note)
          for (key, object) in current.objects where before.objects[key] == after.objects[key] {
            #expect(result.objects[key] == object, note)
          }
        }
      }
    }
  }

  private func revert(
    _ changes: RevertibleChanges, _ dflat: any Workspace
  ) throws -> (RevertibleChanges, Reversal) {
    try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
      var reversal = Reversal?.none
      let undo = try txn.revertible { reversal = try txn.revert(changes) }
      return (undo, try #require(reversal))
    }
  }

  // MARK: Changes

  /// Makes some changes. References are to objects that there are.
  private func change(
    _ dflat: any Workspace, _ count: Int, _ random: inout SeededGenerator
  ) throws -> RevertibleChanges {
    let seed = UInt64.random(in: 0 ..< .max, using: &random)
    return try dflat.write(Writer.self, Story.self, Label.self, Stamp.self) { txn in
      // A transaction may run again.
      var random = SeededGenerator(seed: seed)
      return try txn.revertible {
        for _ in 0..<count {
          do { try step(txn, &random) } catch is DeletionDenied {}
        }
      }
    }
  }

  private func step(_ txn: WriteContext, _ random: inout SeededGenerator) throws {
    let number = Int.random(in: 0..<5, using: &random)
    let handles = try txn.query(Writer.self).fetch().map(\.handle)
    let names = try txn.query(Label.self).fetch().map(\.name)
    let stories = try txn.query(Story.self).fetch().map(\.id)
    func writer() -> String? { handles.randomElement(using: &random) }
    let isMove = random.oneIn(2)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      guard let known = try txn.find(Writer.self, "\(number)") else {
        try txn.insert(Writer(handle: "\(number)", mentor: writer()))
        return
      }
      if isMove { try txn.update(known) { $0.mentor = writer() } } else { try txn.delete(known) }
    case 1:
      guard let known = try txn.find(Label.self, "\(number)") else {
        try txn.insert(Label(name: "\(number)"))
        return
      }
      if isMove { try txn.update(known) { $0.rank += 1 } } else { try txn.delete(known) }
    case 2:
      let labels = names.filter { _ in random.oneIn(2) }
      let parent = stories.randomElement(using: &random)
      guard let known = try txn.find(Story.self, Int64(number)) else {
        try txn.insert(
          Story(
            id: Int64(number), writer: writer(), editor: writer(), labels: labels, parent: parent))
        return
      }
      guard isMove else {
        try txn.delete(known)
        return
      }
      try txn.update(known) {
        $0.writer = writer()
        $0.editor = writer()
        $0.labels = labels
        $0.parent = parent
      }
    default:
      let label = names.randomElement(using: &random)
      let some = stories.filter { _ in random.oneIn(2) }
      guard let known = try txn.find(Stamp.self, Int32(number)) else {
        try txn.insert(Stamp(id: Int32(number), label: label, stories: some))
        return
      }
      guard isMove else {
        try txn.delete(known)
        return
      }
      try txn.update(known) {
        $0.label = label
        $0.stories = some
      }
    }
  }

  // MARK: States

  /// All objects.
  private struct State: Equatable {
    var objects: [String: AnyHashable] = [:]

    init(_ dflat: any Workspace) {
      for object in dflat.fetch(for: Writer.self).all() {
        objects["writer \(object.handle)"] = object
      }
      for object in dflat.fetch(for: Label.self).all() { objects["label \(object.name)"] = object }
      for object in dflat.fetch(for: Story.self).all() { objects["story \(object.id)"] = object }
      for object in dflat.fetch(for: Stamp.self).all() { objects["stamp \(object.id)"] = object }
    }
  }
}
