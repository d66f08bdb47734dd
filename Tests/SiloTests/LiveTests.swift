// Live values of silos: they begin with what is stored, and follow it, on every store.

import DflatTestSupport
import Dispatch
import Foundation
import MemoryDflat
import Observation
import Platform
@testable import Silo
import Testing

@Suite("Live values of silos", .endsSometime)
struct LiveTests {
  /// Waits until a live object shows what it should. It may skip all states before the last one.
  private func expect<T: Equatable>(
    _ shown: () -> T, _ wanted: T, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    _ = await inTime { shown() == wanted }
    #expect(shown() == wanted, comment, sourceLocation: sourceLocation)
  }

  @Test("Lists, single values and counts are those of a model", arguments: TestStores.all)
  func model(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    let comment: Comment = "DFLAT_SEED=\(random.seed)"
    try await stores.withSilos { silos in
      let users = silos[User.self]
      var model: [User] = []
      func save(_ user: User) async throws {
        try await users.save(user)
        if let place = model.firstIndex(where: { $0.id == user.id }) {
          model[place] = user
        } else {
          model.append(user)
        }
      }
      for id in 0..<4 { try await save(User(id: id, name: "n\(id)")) }

      let all = try users.live(on: nil)
      let named = try users.live(
        where: User.name > "n2", orderBy: [User.name.descending, User.id.ascending], limit: 3,
        on: nil)
      let one = try users.live(2, on: nil)
      let absent = try users.live(77, on: nil)
      let count = try users.liveCount(where: User.name <= "n2", on: nil)
      let total = try users.liveCount(on: nil)
      func compare() async throws {
        try await expect({ all.values }, model, comment)
        let wanted = model.filter { $0.name > "n2" }.sorted {
          ($1.name, $0.id) < ($0.name, $1.id)
        }
        try await expect({ named.values }, Array(wanted.prefix(3)), comment)
        try await expect({ one.value }, model.first { $0.id == 2 }, comment)
        try await expect({ count.count }, model.count { $0.name <= "n2" }, comment)
        try await expect({ total.count }, model.count, comment)
        try await expect({ absent.value }, model.first { $0.id == 77 }, comment)
      }
      // The first state is there at once.
      #expect(all.values == model && one.value?.name == "n2" && absent.value == nil)
      #expect(named.values.map(\.id) == [3] && count.count == 3 && total.count == 4)
      for round in 0..<30 {
        let id = Bool.random(using: &random) ? Int.random(in: 0..<6, using: &random) : 77
        if Int.random(in: 0..<3, using: &random) == 0 {
          try await users.remove(id)
          model.removeAll { $0.id == id }
        } else {
          try await save(User(id: id, name: "n\(Int.random(in: 0..<6, using: &random))"))
        }
        if round % 5 == 4 { try await compare() }
      }
      // Through another store, too.
      try await users.move(to: MemoryValueStore<User>())
      try await save(User(id: 2, name: "moved"))
      try await compare()
      #expect(all.failure == nil && one.id == 2)
    }
  }

  @Test("Changes are shown on the queue, and only the newest of those that come meanwhile")
  func queue() async throws {
    let users = Silos(.memory)[User.self]
    let queue = DispatchQueue(label: "views")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    let live = try users.live(orderBy: [User.id.ascending], on: queue)
    let places = Mutex<[Bool]>([])
    @Sendable func track() {
      withObservationTracking {
        _ = live.values
      } onChange: {
        places.withLock { $0.append(DispatchQueue.getSpecific(key: key) == true) }
      }
    }
    track()
    queue.suspend()
    for id in 0..<10 { try await users.save(User(id: id, name: "")) }
    #expect(live.values.isEmpty)
    queue.resume()
    try await expect({ live.values.map(\.id) }, Array(0..<10))
    #expect(places.withLock(\.self) == [true])
  }

  @Test("A live object that is released is not kept by the silo")
  func released() async throws {
    let users = Silos(.memory)[User.self]
    weak var released: LiveValues<User>?
    do {
      let live = try users.live(on: nil)
      released = live
      try await users.save(User(id: 1, name: ""))
      try await expect({ live.values.count }, 1)
    }
    try await expect({ released == nil }, true)
  }

  @Test("What cannot be watched throws")
  func newerVersion() async throws {
    let memory = MemoryWorkspace()
    try await Silos(in: memory)[Task.self].save(Task("new"))
    #expect(throws: SiloError.newerVersion(table: "tasks", stored: 2, known: 1)) {
      try Silos(in: memory)[OldTask.self].live(on: nil)
    }
  }

  @Test("A sequence of changes has the values that it begins with", arguments: TestStores.all)
  func initialValues(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      try await users.save((0..<5).map { User(id: $0, name: "") })
      let changes = users.changes(orderBy: [User.id.descending])
      var rows = changes.initialValues
      #expect(rows.map(\.id) == [4, 3, 2, 1, 0])
      try await users.remove([1, 3])
      try await users.save([User(id: 7, name: ""), User(id: 2, name: "two"), User(id: 6, name: "")])
      for await change in changes {
        change.apply(to: &rows)
        #expect(rows == change.values)
        if rows.first?.id == 7 { break }
      }
      #expect(rows.map(\.id) == [7, 6, 4, 2, 0] && rows[3].name == "two")
    }
  }
}

@Persistable(version: 1, table: "tasks", shape: "id:U title:S")
private struct OldTask: Identifiable {
  var id: UUID
  var title: String
}
