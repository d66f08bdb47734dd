// Negated comparisons with nil in longer conditions: each asks the object, on every engine.
//
// Swift has a `!` of `Bool` and a `==` of optionals, with which `!(Item.title == nil)` would be
// true for every object.

import Dflat
import DflatTestSupport
import Testing

@Suite("Negated conditions on absent values")
struct NegatedNullConditionTests {
  private typealias Item = Kit.Item
  private typealias Writer = Guild.Writer
  private typealias Story = Guild.Story

  /// "empty" has nothing but its number, "full" a value in each field, "big" a large number only.
  private func withItems(
    _ engine: TestEngine, _ body: (_ names: (Condition<Item>) -> [String]) throws -> Void
  ) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let leaf = Kit.Leaf(label: "l", rank: 7)
      try workspace.write([Item.self]) { txn in
        for item in [
          Item(name: "empty", serial: 1, number: 5),
          Item(
            name: "full", serial: 2, number: 5, maybeNumber: 1, title: "a",
            branch: Kit.Branch(leaf: leaf, name: "b"), pet: .dog(Kit.Dog(name: "d", age: 3)),
            tags: ["x"], leaves: [leaf, Kit.Leaf(rank: 9)]),
          Item(name: "big", serial: 3, number: 50),
        ] {
          try txn.submit(Kit.ItemChangeRequest.creationRequest(item))
        }
      }
      try body { workspace.dflat.fetch(for: Item.self).where($0).map(\.name) }
    }
  }

  @Test("A negated comparison of a field is joined with others", arguments: TestEngine.all)
  func fields(engine: TestEngine) throws {
    try withItems(engine) { names in
      #expect(names(!(Item.title == nil) && Item.number > 3) == ["full"])
      #expect(names(!(nil == Item.title) && Item.number > 3) == ["full"])
      #expect(names(Item.number > 3 && !(Item.title == nil)) == ["full"])
      #expect(names(!(Item.title != nil) && Item.number > 3) == ["empty", "big"])
      #expect(names(!(Item.title != nil) || Item.number > 3) == ["empty", "full", "big"])
      #expect(names(!(Item.title == nil) || Item.number > 9) == ["full", "big"])
      #expect(names(!(Item.maybeNumber != nil) && Item.number < 9) == ["empty"])
      #expect(names(!(Item.branch.leaf.label == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.maybeNumber + 1 == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.title == nil) && !(Item.maybeNumber == nil)) == ["full"])
    }
  }

  @Test("Structs, tables, unions and vectors, too", arguments: TestEngine.all)
  func references(engine: TestEngine) throws {
    try withItems(engine) { names in
      #expect(names(!(Item.branch == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.branch != nil) || Item.number > 9) == ["empty", "big"])
      #expect(names(!(Item.branch.leaf == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.pet == nil) && Item.number > 3) == ["full"])
      #expect(names(Item.number > 9 || !(Item.pet == nil)) == ["full", "big"])
      #expect(names(!(Item.pet.as(Kit.Dog.self).age == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.tags == nil) && Item.number > 3) == ["full"])
      #expect(names(!(Item.leaves != nil) && Item.number > 3) == ["empty", "big"])
      #expect(names(Item.leaves.any { !($0.label == nil) && $0.rank > 3 }) == ["full"])
      #expect(names(Item.leaves.any { !($0.label == nil) && $0.rank > 8 }) == [])
    }
  }

  @Test("Negations may be nested", arguments: TestEngine.all)
  func nested(engine: TestEngine) throws {
    try withItems(engine) { names in
      #expect(names(!(!(Item.title == nil)) && Item.number > 3) == ["empty", "big"])
      #expect(names(!(!(!(Item.title == nil))) && Item.number > 3) == ["full"])
      #expect(names(!(Item.title == nil && Item.number < 9)) == ["full", "big"])
      #expect(names(!(Item.title == nil || Item.pet == nil) && Item.number > 3) == ["full"])
      #expect(
        names(!(!(Item.title == nil) && Item.number > 3) && !(Item.number > 9)) == ["empty"])
      #expect(names(!(!(Item.title == nil) || !(Item.tags != nil))) == [])
    }
  }

  @Test("Values of the program may stand beside them", arguments: TestEngine.all)
  func values(engine: TestEngine) throws {
    try withItems(engine) { names in
      for isOn in [false, true] {
        #expect(names(isOn && !(Item.title == nil)) == (isOn ? ["full"] : []))
        #expect(names(!(Item.title != nil) && !isOn) == (isOn ? [] : ["empty", "big"]))
        #expect(
          names(isOn || !(Item.title == nil)) == (isOn ? ["empty", "full", "big"] : ["full"]))
        let word = isOn ? "w" : nil
        #expect(names(!(word == nil) && !(Item.title == nil)) == (isOn ? ["full"] : []))
      }
    }
  }

  @Test("Relations to one, to several and the other way, too", arguments: TestEngine.all)
  func relations(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try dflat.write(Writer.self, Story.self) { txn in
        try txn.insert(contentsOf: [
          Writer(handle: "ada", age: 36), Writer(handle: "ben", mentor: "ada"),
        ])
        try txn.insert(contentsOf: [
          Story(id: 1, likes: 5, writer: "ada", labels: ["red"]), Story(id: 2, likes: 5),
          Story(id: 3, likes: 9, writer: "zoe"),
        ])
      }
      func ids(_ condition: Condition<Story>) throws -> [Int64] {
        try dflat.query(Story.self).where(condition).fetch().map(\.id)
      }
      func handles(_ condition: Condition<Writer>) throws -> [String] {
        try dflat.query(Writer.self).where(condition).fetch().map(\.handle)
      }
      #expect(try ids(!(Story.writer == nil) && Story.likes > 3) == [1, 3])
      #expect(try ids(!(Story.writer.related == nil) && Story.likes > 3) == [1])
      #expect(try ids(!(Story.writer.age == nil) && Story.likes > 3) == [1])
      #expect(try ids(!(Story.labels == nil) && Story.likes > 3) == [1])
      #expect(try ids(!(Story.labels != nil) && Story.likes > 8) == [3])
      #expect(try handles(!(Writer.stories == nil) && !(Writer.age == nil)) == ["ada"])
      #expect(try handles(!(Writer.stories != nil) || Writer.age > 90) == ["ben"])
      #expect(try handles(!(Writer.pupils == nil) && Writer.age > 3) == ["ada"])
    }
  }
}
