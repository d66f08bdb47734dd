// Silos that move back to a store which they have left.

import DflatTestSupport
import Foundation
import MemoryDflat
@testable import Silo
import Testing

@Suite("Moving a silo back")
struct MoveBackTests {
  @Test("The values are those of the silo, in their order", arguments: TestStores.all)
  func back(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      let first = users.store
      try await users.save((0..<10).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try await users.pin(3)
      try await users.delete(9)
      let everyone = users.changes(orderBy: [User.id.ascending])
      var rows = everyone.initialValues
      var changes = everyone.makeAsyncIterator()
      for round in 1...3 {
        try await users.move(to: MemoryValueStore<User>())
        try await users.remove([round])
        try await users.save([
          User(id: 20 + round, name: "new", email: "\(round)@x"),
          User(id: 4, name: "round \(round)"),
        ])
        try await users.unpin(3)
        let values = try await users.values()
        try await users.move(to: first)
        #expect(try await users.values() == values)
        #expect(try await users.load(4)?.name == "round \(round)")
        #expect(try await users.isDeleted(9))
        #expect(try await !users.isManaged(3))
        // The two transactions, and nothing of the moves.
        for _ in 0..<2 { try #require(await changes.next()).apply(to: &rows) }
        #expect(rows == values.sorted { $0.id < $1.id })
        try await users.pin(3)
      }
      try await users.save(User(id: 0, name: "after"))
      #expect(try await users.count() == 9)
    }
  }

  @Test("What is saved just before a move is a change of its own", arguments: TestStores.all)
  func savedBefore(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      let first = users.store
      let other = MemoryValueStore<User>()
      let all = users.changes(orderBy: [User.id.ascending])
      var changes = all.makeAsyncIterator()
      for number in 0..<40 {
        try await users.save(User(id: number, name: "new", email: "\(number)@x"))
        try await users.save(User(id: number, name: "changed", email: "\(number)@x"))
        if number.isMultiple(of: 2) {
          try await users.move(to: other)
        } else {
          try await users.move(to: first)
        }
      }
      var rows = all.initialValues
      for number in 0..<40 {
        for name in ["new", "changed"] {
          try #require(await changes.next()).apply(to: &rows)
          try #require(rows.count == number + 1 && rows.last?.name == name)
        }
      }
    }
  }

  @Test("Also over several stores, and in a later process")
  func later() async throws {
    let memories = (0..<3).map { _ in MemoryWorkspace() }
    let stores = memories.map { WorkspaceValueStore<User>($0) }
    let users = Silos(stores[0])[User.self]
    try await users.save(User(id: 1, name: "one"))
    try await users.move(to: stores[1])
    try await users.save(User(id: 2, name: "two"))
    let next = Silos(stores[1])[User.self]
    try await next.move(to: stores[2])
    try await next.save(User(id: 3, name: "three"))
    let last = Silos(stores[2])[User.self]
    try await last.move(to: stores[0])
    #expect(try await last.values().map(\.id) == [1, 2, 3])
    // What was left in between is replaced, too.
    try await last.remove(1)
    try await last.move(to: stores[1])
    #expect(try await last.values().map(\.id) == [2, 3])
  }

  @Test("Values that were changed meanwhile, or come from elsewhere, are not replaced")
  func refusal() async throws {
    let memories = (0..<3).map { _ in MemoryWorkspace() }
    let stores = memories.map { WorkspaceValueStore<User>($0) }
    let users = Silos(stores[0])[User.self]
    try await users.save([User(id: 1, name: "one"), User(id: 2, name: "two")])
    try await users.move(to: stores[1])
    // Another program uses the store that was left.
    let others = Silos(stores[0])[User.self]
    try await others.save(User(id: 1, name: "changed"))
    await #expect(throws: SiloError.storeIsNotEmpty("User")) { try await users.move(to: stores[0]) }
    #expect(try await others.values().map(\.name) == ["changed", "two"])
    try await others.save(User(id: 1, name: "one"))
    // A silo whose values have not come from there.
    let strange = Silos(stores[2])[User.self]
    try await strange.save(User(id: 5, name: "five"))
    await #expect(throws: SiloError.storeIsNotEmpty("User")) {
      try await strange.move(to: stores[0])
    }
    try await users.move(to: stores[0])
    #expect(try await users.values().map(\.name) == ["one", "two"])
  }

  @Test("A cache around the silo's own store is no other store")
  func cached() async throws {
    let memory = MemoryWorkspace()
    let users = Silos(WorkspaceValueStore<User>(memory))[User.self]
    try await users.save(User(id: 1, name: "one"))
    try await users.move(to: CachedValueStore(of: WorkspaceValueStore<User>(memory), limit: 5))
    try await users.save(User(id: 1, name: "uno"))
    #expect(try await users.load(1)?.name == "uno")
    try await users.move(to: WorkspaceValueStore<User>(memory))
    #expect(try await users.values().map(\.name) == ["uno"])
  }

  @Test("A cache around a store that was left does not remember")
  func cacheOfLeftStore() async throws {
    let memory = MemoryWorkspace()
    let first = CachedValueStore(of: WorkspaceValueStore<User>(memory), limit: 100)
    let users = Silos(first)[User.self]
    try await users.save((0..<10).map { User(id: $0, name: "old") })
    _ = try await users.load(0..<10)
    try await users.move(to: MemoryValueStore<User>())
    try await users.remove(0)
    try await users.save((1..<10).map { User(id: $0, name: "new") })
    try await users.move(to: first)
    #expect(try await users.load(0..<10).map(\.name) == Array(repeating: "new", count: 9))
    #expect(try await users.load(0) == nil)
  }

  @Test("Changes during moves there and back are neither lost nor doubled")
  func concurrentChanges() async throws {
    let stores = (0..<3).map { _ in MemoryValueStore<User>() }
    let silos = Silos(stores[0])
    let users = silos[User.self]
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          for step in 0..<100 {
            try await users.save(User(id: writer * 1000 + step, name: "\(step)"))
            if step % 10 == 9 { try await users.remove(writer * 1000 + step) }
          }
        }
      }
      group.addTask {
        for round in 1...20 { try await users.move(to: stores[round % 3]) }
      }
      try await group.waitForAll()
    }
    #expect(try await users.count() == 360)
  }
}
