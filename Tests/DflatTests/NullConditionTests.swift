// Nil compared with expressions, references and unions; presence; bit flags.

import Dflat
import DflatTestSupport
import SQLiteDflat
import Testing

@Suite("Conditions on absent values")
struct NullConditionTests {
  private func titles(
    _ condition: Condition<Kit.Item>, _ items: [Kit.Item]
  ) throws -> [String] {
    try withTemporaryWorkspace { workspace in
      try workspace.write([Kit.Item.self]) { txn in
        for item in items { try txn.submit(Kit.ItemChangeRequest.creationRequest(item)) }
      }
      return workspace.dflat.fetch(for: Kit.Item.self).where(condition).map(\.name)
    }
  }

  private let items = [
    Kit.Item(name: "none", serial: 1, number: 5),
    Kit.Item(name: "a", serial: 2, number: 5, title: "a"),
    Kit.Item(name: "b", serial: 3, number: 5, title: "b", pet: .dog(Kit.Dog(name: "d"))),
  ]

  @Test("Nil in a larger condition is compared for each object, not with the field itself")
  func nilInsideConditions() throws {
    typealias Item = Kit.Item
    #expect(
      try titles(Item.number > 3 && (Item.title == nil || Item.title == "a"), items)
        == ["none", "a"])
    #expect(try titles(Item.title != nil && Item.number > 3, items) == ["a", "b"])
    #expect(try titles(Item.number > 3 && nil == Item.title, items) == ["none"])
    #expect(try titles(Item.pet == nil && Item.number > 3, items) == ["none", "a"])
    #expect(try titles(Item.number > 3 && Item.branch != nil, items) == [])
    #expect(try titles((Item.number + 1) != nil && Item.title == nil, items) == ["none"])
  }

  @Test("A vector is compared with nil for each object; an empty one is an absent one")
  func nilVectors() throws {
    typealias Item = Kit.Item
    let items = [
      Kit.Item(name: "none", serial: 1, number: 5),
      Kit.Item(name: "empty", serial: 2, number: 5, tags: [], numbers: []),
      Kit.Item(name: "some", serial: 3, number: 5, tags: ["a"], numbers: [1, 2]),
    ]
    #expect(try titles(Item.tags == nil, items) == ["none", "empty"])
    #expect(try titles(Item.number > 3 && Item.tags != nil, items) == ["some"])
    #expect(
      try titles(Item.number > 3 && (Item.numbers == nil || Item.title == "a"), items)
        == ["none", "empty"])
    #expect(try titles(nil != Item.numbers && Item.number > 3, items) == ["some"])
  }

  @Test(
    "An optional that is nil matches unknown values", arguments: [nil, "a"] as [String?])
  func optionalValues(title: String?) throws {
    typealias Item = Kit.Item
    let expected = title == nil ? ["none"] : ["a"]
    #expect(try titles(Item.title == title && Item.number > 3, items) == expected)
    #expect(try titles(title == Item.title, items) == expected)
    // A comparison of a field without a value with "a" is unknown.
    #expect(try titles(Item.title != title, items) == (title == nil ? ["a", "b"] : ["b"]))
  }

  @Test("An absent union matches no member")
  func matching() throws {
    #expect(try titles(!Kit.Item.pet.match(Kit.Dog.self), items) == ["none", "a"])
    #expect(try titles(Kit.Item.pet.match(Kit.Dog.self) == false, items) == ["none", "a"])
  }

  @Test("Flags can be tested for all or any of them")
  func flags() throws {
    let items = [
      Kit.Item(name: "0", serial: 0), Kit.Item(name: "1", serial: 0, traits: .soft),
      Kit.Item(name: "5", serial: 0, traits: [.soft, .fast]),
      Kit.Item(name: "6", serial: 0, traits: [.loud, .fast]),
    ]
    typealias Item = Kit.Item
    #expect(try titles(Item.traits.contains([.soft, .fast]), items) == ["5"])
    #expect(try titles(Item.traits.intersects([.soft, .fast]), items) == ["1", "5", "6"])
    #expect(try titles(!Item.traits.intersects([.soft]), items) == ["0", "6"])
    #expect(try titles(Item.traits.contains([]), items) == ["0", "1", "5", "6"])
    #expect(try titles(Item.traits.intersects([]), items) == [])
  }

  @Test("An explanation uses the schema's names of fields, members and values")
  func explanation() throws {
    typealias Item = Kit.Item
    let conditions: [(Condition<Item>, String)] = [
      (
        Item.shortNumber != 10 && Item.mood != .calm && Item.plainFlag,
        "short_number != 10 && mood != Calm && plain_flag"
      ),
      (
        Item.branch.leaf.weight > 2 && !(Item.plainFlag || Item.plainNumber + 1 < 3),
        "branch.leaf.weight > 2.0 && !(plain_flag || plain_number + 1 < 3)"
      ),
      (
        Item.pet.as(Kit.Dog.self).name == "a" || !Item.pet.match(Kit.Cat.self),
        "pet.as(Dog).name == \"a\" || !pet.match(Cat)"
      ),
      (
        Item.pet._type != 2 && Item.branch != nil && Item.box.corner.x.isNull,
        "pet._type != Dog && branch.isNotNull && box.corner.x.isNull"
      ),
      (
        (Item.traits.contains([.soft, .fast]) || Item.plainFlag) && Item.mood.notIn([.wild]),
        "(traits.contains([Soft, Fast]) || plain_flag) && mood.notIn([Wild])"
      ),
    ]
    try withTemporaryWorkspace { workspace in
      try workspace.write([Item.self]) { txn in
        try txn.submit(Kit.ItemChangeRequest.creationRequest(Item(name: "a", serial: 1)))
      }
      for (condition, text) in conditions {
        let explanation = try workspace.dflat.fetch(for: Item.self).explain(where: condition)
        #expect(explanation.rowByRow == text)
      }
    }
  }
}
