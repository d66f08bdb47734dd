// What every store promises, on each of them.

import DflatTestSupport
import Foundation
import Silo
import Testing

@Suite("Stores")
struct StoreTests {
  private struct Refusal: Error {}

  @Test("Saved values are loaded, replaced and removed", arguments: TestStores.all)
  func saving(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tasks = silos[Task.self]
      let (first, second) = (Task("first"), Task("second", count: 2))
      #expect(try await tasks.load(first.id) == nil)
      try await tasks.save([first, second])
      #expect(try await tasks.load(first.id) == first)
      #expect(try await tasks.load([second.id, UUID(), first.id]) == [second, first])
      var changed = first
      changed.title = "changed"
      // Of two values with one id the last one counts.
      try await tasks.save([first, changed])
      #expect(try await tasks.load(first.id)?.title == "changed")
      #expect(try await tasks.count() == 2)
      #expect(try await tasks.remove(first.id))
      #expect(try await !tasks.remove(first.id))
      #expect(try await tasks.values() == [second])
    }
  }

  @Test("Questions take .always and .never", arguments: TestStores.all)
  func always(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tasks = silos[Task.self]
      let values = [Task("a"), Task("b"), Task("c")]
      try await tasks.save(values)
      let titles: [OrderBy<Canonical<Task>>] = [Task.title.descending]
      #expect(try await tasks.values(where: .always) == values)
      #expect(
        try await tasks.values(where: .always, orderBy: titles, limit: 2).map(\.title)
          == ["c", "b"])
      #expect(try await tasks.values(where: .never) == [])
      #expect(try await tasks.count(where: .always) == 3)
      #expect(tasks.changes(where: .always).initialValues == values)
      #expect(
        try tasks.live(where: .always, orderBy: titles).values.map(\.title) == ["c", "b", "a"])
      #expect(try tasks.liveCount(where: .never).count == 0)
      try await silos.write { txn in
        let first = try txn[Task.self].values(where: .always, limit: 1)
        let count = try txn[Task.self].count(where: .always)
        #expect(first == [values[0]] && count == 3)
      }
    }
  }

  @Test("Values of all types come back equal", arguments: TestStores.all)
  func everything(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    let values = (0..<30).map { _ in Everything.random(using: &random) }
    try await stores.withSilos { silos in
      let silo = silos[Everything.self]
      try await silo.save(values)
      #expect(try await silo.load(values.map(\.id)) == values, "DFLAT_SEED=\(seed)")
      #expect(try await silo.values() == values, "DFLAT_SEED=\(seed)")
      for value in values {
        #expect(try await silo.load(value.id) == value, "DFLAT_SEED=\(seed)")
      }
    }
  }

  @Test("Conditions, orders and limits", arguments: TestStores.all)
  func queries(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tasks = silos[Task.self]
      var values = (0..<10).map { number in
        Task("task \(number)", created: Date(timeIntervalSince1970: Double(-number)), count: number)
      }
      values[3].isDone = true
      values[4].modified = .distantPast
      try await tasks.save(values)
      #expect(try await tasks.count(where: !Task.isDone) == 9)
      #expect(try await tasks.count(where: Task.isDone) == 1)
      #expect(
        try await tasks.values(where: Task.count < 5, orderBy: [Task.created.ascending], limit: 2)
          .map(\.count) == [4, 3])
      #expect(try await tasks.values(where: Task.modified.isNotNull).map(\.count) == [4])
      // Unknown, so neither is true.
      #expect(try await tasks.count(where: Task.modified < .distantFuture) == 1)
      #expect(try await tasks.count(where: !(Task.modified < .distantFuture)) == 0)
      #expect(
        try await tasks.values(where: Task.created > Date(timeIntervalSince1970: -1.5))
          .map(\.count) == [0, 1])
      #expect(try await tasks.values(where: Task.id == values[7].id) == [values[7]])
      #expect(try await tasks.values(orderBy: [Task.count.descending]).first == values[9])
    }
  }

  @Test("Ids of several parts, with any content", arguments: TestStores.all)
  func compoundIDs(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let steps = silos[Step.self]
      let ids = ["", "a", "a/1", "%", "%2F", "/", "é", "e\u{301}x", "a\0b"].map {
        Place(list: $0, number: -7)
      }
      try await steps.save(ids.map { Step(id: $0, title: $0.list) })
      #expect(try await steps.load(ids).map(\.title) == ids.map(\.list))
      #expect(try await steps.values(where: Step.id == ids[2]).map(\.title) == ["a/1"])
      #expect(try await steps.count(where: Step.id.in(ids.prefix(3))) == 3)
    }
  }

  @Test(
    "A unique value cannot be saved twice, and nothing of that save is kept",
    arguments: TestStores.all)
  func uniqueness(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      try await users.save([User(id: 1, name: "Ada", email: "a@b.c"), User(id: 2, name: "Bob")])
      await #expect(throws: StorageError.self) {
        try await users.save([
          User(id: 3, name: "Cy"), User(id: 4, name: "Di", email: "a@b.c"),
        ])
      }
      #expect(try await users.values().map(\.id) == [1, 2])
    }
  }

  @Test(
    "A transaction over several silos keeps all of its changes or none",
    arguments: TestStores.all)
  func transactions(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let task = Task("t")
      try await silos.write { txn in
        try txn[Task.self].save(task)
        try txn[User.self].save(User(id: 1, name: "Ada"))
        #expect(try txn[User.self].load(1)?.name == "Ada")
        #expect(try txn[Task.self].values(where: Task.title == "t") == [task])
        #expect(try txn[Tag.self].count() == 0)
      }
      await #expect(throws: Refusal.self) {
        try await silos.write { txn in
          try txn[Task.self].remove(task.id)
          try txn[User.self].save(User(id: 2, name: "Bob"))
          throw Refusal()
        }
      }
      #expect(try await silos[Task.self].load(task.id) == task)
      #expect(try await silos[User.self].count() == 1)
    }
  }

  @Test("A closure that swallows errors still runs with all of its types")
  func swallowedErrors() async throws {
    let silos = Silos(.memory)
    let result = try await silos.write { txn in
      try? txn[User.self].save(User(id: 1, name: "Ada"))
      return (try? txn[User.self].count()) ?? -1
    }
    #expect(result == 1)
    #expect(try await silos[User.self].count() == 1)
  }

  @Test("A transaction over stores in different workspaces is refused, and changes nothing")
  func separateStores() async throws {
    let silos = Silos(MemoryValueStore<Task>(), MemoryValueStore<User>())
    await #expect(throws: SiloError.self) {
      try await silos.write { txn in
        try txn[Task.self].save(Task("t"))
        try txn[User.self].save(User(id: 1, name: "Ada"))
      }
    }
    #expect(try await silos[Task.self].count() == 0)
    #expect(try await silos[User.self].count() == 0)
    try await silos.write { try $0[User.self].save(User(id: 1, name: "Ada")) }
    #expect(try await silos[User.self].count() == 1)
  }

  @Test("Changes come with their differences", arguments: TestStores.all)
  func changes(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tasks = silos[Task.self]
      let me = User(id: 7, name: "me")
      var task = Task("mine", count: 1, owner: .resolved(me))
      try await tasks.save(task)
      let watched = tasks.changes(where: Task.owner == me, orderBy: [Task.count.ascending])
      var changes = watched.makeAsyncIterator()
      var mirror = [task]
      func next() async throws -> ValueChange<Task> {
        let change = try #require(await changes.next())
        change.apply(to: &mirror)
        #expect(mirror == change.values)
        return change
      }

      let other = Task("other", count: 0, owner: .unresolved(id: 7))
      try await tasks.save([other, Task("not mine", owner: .unresolved(id: 8))])
      #expect(try await next().insertions.map(\.value) == [other])
      task.title = "changed"
      try await tasks.save(task)
      let update = try #require(try await next().updates.first)
      #expect(update.previous.title == "mine" && update.value == task)
      task.count = -1
      try await tasks.save(task)
      #expect(try await next().moves.count == 1)
      task.owner = .unresolved(id: 8)
      try await tasks.save(task)
      #expect(try await next().removals.map(\.value.id) == [task.id])
    }
  }

  @Test("Savers of different values do not lose each other's changes", arguments: TestStores.all)
  func concurrency(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await withThrowingTaskGroup { group in
        for number in 0..<8 {
          group.addTask {
            for step in 0..<10 {
              try await silos.write { txn in
                var counter = try txn[User.self].load(0) ?? User(id: 0, name: "0")
                counter.name = "\((Int(counter.name) ?? 0) + 1)"
                try txn[User.self].save(counter)
                try txn[Tag.self].save(Tag(id: "\(number) \(step)"))
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await silos[User.self].load(0)?.name == "80")
      #expect(try await silos[Tag.self].count() == 80)
    }
  }

  @Test(
    "A save that fails keeps nothing, also if the transaction goes on", arguments: TestStores.all)
  func caughtFailure(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      try await users.save(User(id: 1, name: "a", email: "a"))
      await #expect(throws: (any Error).self) {
        try await silos.write { txn in
          try txn[User.self].save(User(id: 2, name: "b"))
          try? txn[User.self].save([User(id: 3, name: "c"), User(id: 4, name: "d", email: "a")])
        }
      }
      #expect(try await users.values().map(\.id) == [1])
    }
  }
}
