// Silos that change their store while they are used.

import DflatTestSupport
import Foundation
import MemoryDflat
import Silo
import Testing

@Suite("Moving a silo")
struct MoveTests {
  @Test(
    "A moved silo has the same values, and observers notice only later changes",
    arguments: TestStores.all)
  func moving(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      try await users.save((0..<20).map { User(id: $0, name: "\($0)") })
      try await users.remove(3)
      let before = try await users.values()
      var changes = users.changes(orderBy: [User.id.ascending]).makeAsyncIterator()
      try await users.save(User(id: 30, name: "before"))
      try await users.move(to: MemoryValueStore<User>())
      #expect(try await users.values() == before + [User(id: 30, name: "before")])
      try await users.save(User(id: 5, name: "after"))
      let first = try #require(await changes.next())
      #expect(first.insertions.map(\.value.id) == [30] && first.updates.isEmpty)
      let second = try #require(await changes.next())
      #expect(second.updates.map(\.value.name) == ["after"])
      #expect(second.insertions.isEmpty && second.removals.isEmpty && second.moves.isEmpty)
    }
  }

  @Test("Changes during moves are neither lost nor doubled")
  func concurrentChanges() async throws {
    let silos = Silos(.memory)
    let users = silos[User.self]
    try await withThrowingTaskGroup { group in
      for writer in 0..<4 {
        group.addTask {
          for step in 0..<200 {
            try await users.save(User(id: writer * 1000 + step, name: "\(step)"))
            try await silos.write { txn in
              var counter = try txn[User.self].load(-1) ?? User(id: -1, name: "0")
              counter.name = "\((Int(counter.name) ?? 0) + 1)"
              try txn[User.self].save(counter)
            }
          }
        }
      }
      group.addTask {
        for _ in 0..<20 { try await users.move(to: MemoryValueStore<User>()) }
      }
      try await group.waitForAll()
    }
    #expect(try await users.count() == 801)
    #expect(try await users.load(-1)?.name == "800")
  }

  @Test("A store that has values is refused, and the silo goes on with its own")
  func refusal() async throws {
    let users = Silos(.memory)[User.self]
    try await users.save(User(id: 1, name: "Ada"))
    let memory = MemoryWorkspace()
    try await Silos(in: memory)[User.self].save(User(id: 2, name: "Bob"))
    await #expect(throws: SiloError.storeIsNotEmpty("User")) {
      try await users.move(to: WorkspaceValueStore<User>(memory))
    }
    try await users.save(User(id: 3, name: "Cy"))
    #expect(try await users.values().map(\.id) == [1, 3])
  }

  @Test(
    "What waits to be uploaded stays managed and deleted between the moves of values and uploads",
    arguments: [true, false])
  func uploads(areValuesFirst: Bool) async throws {
    let silos = Silos(.memory)
    let folders = silos[Folder.self]
    try await folders.save([Folder(1), Folder(2), Folder(3), Folder(4)])
    try await silos.write { txn in
      try txn[Folder.self].save(Folder(1, name: "changed"))
      try txn[Folder.self].delete(3)
      try txn.enqueue(Sent())
    }
    try await silos.write { txn in
      try txn[Folder.self].save(Folder(4, name: "changed"))
      try txn.enqueue(Sent(orderingKey: "a"))
      try txn.enqueue(Sent(orderingKey: "b"))
    }
    let store = WorkspaceValueStore<Folder>(MemoryWorkspace())
    if areValuesFirst {
      try await folders.move(to: store)
    } else {
      try await silos.moveUploads(to: store.domain)
    }
    for id in [1, 4] {
      await #expect(throws: SiloError.managed(type: "Folder", id: "\(id)")) {
        try await folders.evict(id)
      }
    }
    #expect(try await folders.isDeleted(3))
    await #expect(throws: SiloError.self) { try await folders.save(Folder(3)) }
    folders.retention = .recent(count: 0)
    try await folders.trim()
    folders.retention = .everything
    #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [1, 4])
    if areValuesFirst {
      try await silos.moveUploads(to: store.domain)
    } else {
      try await folders.move(to: store)
    }
    #expect(try await folders.isManaged(1))
    #expect(try await folders.isDeleted(3))
    try await UploadQueue<Sent>(
      in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2))
    ).run(until: .idle) { _, _ in }
    #expect(try await folders.evict([1, 4]) == 2)
    #expect(try await !folders.isDeleted(3))
  }
}
