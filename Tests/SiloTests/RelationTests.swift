// Relations: items in both forms, deep saving, loading by paths.

import DflatTestSupport
import Foundation
import Silo
import Testing

@Suite("Relations")
struct RelationTests {
  @Test("Items are equal by their ids, identical by their values")
  func equality() {
    let ada = RelatedItem(User(id: 1, name: "Ada"))
    #expect(ada == .unresolved(id: 1) && ada != .unresolved(id: 2))
    #expect(!ada.isIdentical(to: .unresolved(id: 1)))
    #expect(!ada.isIdentical(to: .resolved(User(id: 1, name: "Eve"))))
    #expect(ada.isIdentical(to: RelatedItem(User(id: 1, name: "Ada"))))
    #expect(ada.isResolved && ada.value?.name == "Ada" && !ada.unresolved.isResolved)
    var tags: RelatedItems<Tag> = [.resolved(Tag(id: "a")), .unresolved(id: "a")]
    #expect(tags.count == 1 && tags[id: "a"]?.isResolved == true)
    tags.insert(id: "b")
    #expect(tags == RelatedItems(ids: ["b", "a"]) && tags.values.map(\.id) == ["a"])
    #expect(!tags.isIdentical(to: RelatedItems(ids: ["b", "a"])))
  }

  @Test("Coding keeps ids and values")
  func coding() throws {
    let task = Task(
      "t", owner: .resolved(User(id: 1, name: "Ada")), tags: [.unresolved(id: "x")],
      steps: [.resolved(Step(id: Place(list: "l", number: 1), title: "s"))])
    let again = try JSONDecoder().decode(Task.self, from: JSONEncoder().encode(task))
    #expect(again == task)
    #expect(again.owner.isIdentical(to: task.owner) && again.steps.isIdentical(to: task.steps))
    #expect(again.tags.isIdentical(to: task.tags))
  }

  @Test("Saving references leaves related values alone", arguments: TestStores.all)
  func references(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let task = Task("t", owner: .resolved(User(id: 1, name: "Ada")))
      try await silos[Task.self].save(task)
      #expect(try await silos[User.self].count() == 0)
      let loaded = try #require(try await silos[Task.self].load(task.id))
      #expect(!loaded.owner.isResolved && loaded.owner.id == 1)
    }
  }

  @Test("Deep saving saves every resolved value once, also in cycles", arguments: TestStores.all)
  func deepSaving(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      var ada = User(id: 1, name: "Ada", boss: .unresolved(id: 2))
      let bob = User(id: 2, name: "Bob", boss: .resolved(ada))
      ada.boss = .resolved(bob)
      let step = Step(
        id: Place(list: "l", number: 1), title: "s",
        assignee: .resolved(User(id: 3, name: "Cy")))
      let task = Task(
        "t", owner: .resolved(ada), tags: [.resolved(Tag(id: "a")), .unresolved(id: "b")],
        steps: [.resolved(step), .resolved(step)])
      try await silos[Task.self].save(task, related: .deep)
      #expect(
        try await silos[User.self].values(orderBy: [User.id.ascending]).map(\.name)
          == ["Ada", "Bob", "Cy"])
      #expect(try await silos[Tag.self].values().map(\.id) == ["a"])
      #expect(try await silos[Step.self].count() == 1)

      let loaded = try #require(
        try await silos[Task.self].load(
          task.id, resolving: \.owner[\.boss], \.tags.all, \.steps.all[\.assignee]))
      #expect(loaded.owner.value?.boss?.value?.name == "Bob")
      // The path ends here, and with it the cycle.
      #expect(loaded.owner.value?.boss?.value?.boss?.isResolved == false)
      #expect(loaded.tags[id: "a"]?.isResolved == true && loaded.tags[id: "b"]?.isResolved == false)
      #expect(loaded.steps.map { $0.value?.assignee?.value?.name } == ["Cy", "Cy"])
    }
  }

  @Test(
    "Ids with the same characters and other bytes are different values", arguments: TestStores.all)
  func spellings(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = [Tag(id: "\u{E9}", color: "one"), Tag(id: "e\u{301}", color: "other")]
      let tasks = tags.map { Task($0.color, tags: [.resolved($0)]) }
      try await silos[Task.self].save(tasks, related: .deep)
      #expect(try await silos[Tag.self].count() == 2)
      let loaded = try await silos[Task.self].load(tasks.map(\.id), resolving: \.tags.all)
      #expect(loaded.map { $0.tags.values.map(\.color) } == [["one"], ["other"]])
      try await silos[Tag.self].evict("\u{E9}")
      let missing = try await silos[Tag.self].unresolvedIDs()
      #expect(missing.map { Array($0.utf8) } == [Array("\u{E9}".utf8)])
    }
  }

  @Test(
    "A deep save of which one value is refused saves none, if the transaction goes on",
    arguments: TestStores.all)
  func refusedDeepSaving(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[User.self].save(User(id: 7, name: "gone"))
      try await silos[User.self].delete(7)
      let task = Task("new", owner: .resolved(User(id: 7, name: "back")))
      try await silos.write { txn in
        #expect(throws: SiloError.deleted(type: "User", id: "7")) {
          try txn[Task.self].save(task, related: .deep)
        }
      }
      #expect(try await silos[Task.self].count() == 0)
      try await silos[Task.self].save(task, related: .deep, ifDeleted: .skip)
      #expect(try await silos[Task.self].count() == 1)
      #expect(try await silos[User.self].count() == 0)
    }
  }

  @Test("A failing deep save changes nothing", arguments: TestStores.all)
  func failingDeepSave(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[User.self].save(User(id: 1, name: "Ada", email: "a"))
      let task = Task("t", owner: .resolved(User(id: 2, name: "Bob", email: "a")))
      await #expect(throws: StorageError.self) {
        try await silos[Task.self].save(task, related: .deep)
      }
      #expect(try await silos[Task.self].count() == 0)
    }
  }

  @Test("Long chains of related values are saved without recursion")
  func chains() async throws {
    let silos = Silos(.memory)
    var last = User(id: 0, name: "0")
    for number in 1..<2000 {
      last = User(id: number, name: "\(number)", boss: .resolved(last))
    }
    try await silos[User.self].save(last, related: .deep)
    #expect(try await silos[User.self].count() == 2000)
  }

  @Test(
    "Many related values are loaded, each shared by those that refer to it",
    arguments: TestStores.all)
  func manyRelated(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[User.self].save((0..<900).map { User(id: $0, name: "\($0)") })
      let tasks = (0..<1000).map { Task("\($0)", owner: .unresolved(id: $0)) }
      try await silos[Task.self].save(tasks)
      let loaded = try await silos[Task.self].load(tasks.map(\.id), resolving: \.owner, \.reviewer)
      #expect(loaded.map(\.owner.value?.name) == (0..<1000).map { $0 < 900 ? "\($0)" : nil })
    }
  }

  @Test("Conditions about relations", arguments: TestStores.all)
  func conditions(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tasks = silos[Task.self]
      try await tasks.save([
        Task("a", owner: .unresolved(id: 1), tags: RelatedItems(ids: ["x", "y"])),
        Task("b", owner: .unresolved(id: 2), reviewer: .unresolved(id: 1)),
        Task("c", owner: .unresolved(id: 3), tags: RelatedItems(ids: ["y"])),
      ])
      func titles(_ condition: Condition<Canonical<Task>>) async throws -> [String] {
        try await tasks.values(where: condition).map(\.title)
      }
      #expect(try await titles(Task.owner == 1) == ["a"])
      #expect(try await titles(Task.owner.in([2, 3])) == ["b", "c"])
      #expect(try await titles(Task.owner != 1) == ["b", "c"])
      #expect(try await titles(Task.reviewer.isNull) == ["a", "c"])
      #expect(try await titles(Task.reviewer == nil && Task.title != "a") == ["c"])
      #expect(try await titles(!(Task.reviewer == nil) && Task.title != "a") == ["b"])
      #expect(try await titles(Task.tags == nil && Task.title != "a") == ["b"])
      #expect(try await titles(Task.tags != nil && Task.title != "a") == ["c"])
      #expect(try await titles(Task.tags.contains(id: "y")) == ["a", "c"])
      #expect(try await titles(Task.tags.contains(Tag(id: "x"))) == ["a"])
      #expect(try await titles(Task.tags.count == 0) == ["b"])
    }
  }

  @Test("Relations of an optional related value are resolved", arguments: TestStores.all)
  func nestedInOptional(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[User.self].save([
        User(id: 1, name: "Ada"), User(id: 2, name: "Bo", boss: .unresolved(id: 1)),
        User(id: 3, name: "Cy", boss: .unresolved(id: 2)),
      ])
      let task = Task("a", reviewer: .unresolved(id: 3))
      try await silos[Task.self].save([task, Task("b")])
      let loaded = try #require(
        try await silos[Task.self].load(task.id, resolving: \.reviewer[\.boss[\.boss]]))
      #expect(loaded.reviewer?.value?.boss?.value?.boss?.value?.name == "Ada")
    }
  }
}
