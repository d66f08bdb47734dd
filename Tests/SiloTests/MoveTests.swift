// Silos that change their store while they are used.

import DflatTestSupport
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import Testing

/// A store whose values cannot be watched.
private struct UnwatchableStore<Value: Persistable>: ValueStore {
  static var failure: SiloError { .newerVersion(table: "users", stored: 9, known: 1) }

  let base: any ValueStore<Value>
  var domain: any StoreDomain { base.domain }

  func load(_ ids: [Value.ID]) async throws -> [Value] { try await base.load(ids) }
  func values(_ query: ValueQuery<Value>) async throws -> [Value] { try await base.values(query) }
  func count(_ query: ValueQuery<Value>) async throws -> Int { try await base.count(query) }
  func changes(_ query: ValueQuery<Value>) -> ValueChanges<Value> {
    ValueChanges(failing: Self.failure) { _ in }
  }
  func subscribe(
    changedIDs handler: @escaping @Sendable ([Value.ID]?) -> Void
  ) -> ValueSubscription { base.subscribe(changedIDs: handler) }
  func migrate(step: Int) async throws { try await base.migrate(step: step) }
}

@Suite("Moving a silo")
struct MoveTests {
  @Test("If the new store cannot be watched, observers keep what they show, and learn why")
  func unwatchable() async throws {
    let silos = Silos(.memory)
    let errors = ReportedErrors()
    silos.errorHandler = { errors.add($0) }
    let users = silos[User.self]
    try await users.save((0..<3).map { User(id: $0, name: "\($0)") })
    let live = try users.live(on: nil)
    let changes = users.changes()
    try await users.move(to: UnwatchableStore(base: users.store))
    for await change in changes { Issue.record("\(change)") }
    while live.failure == nil && live.values.count == 3 { await _Concurrency.Task.yield() }
    #expect(live.values.count == 3)
    let failure = UnwatchableStore<User>.failure
    #expect(live.failure as? SiloError == failure)
    #expect(errors.takeAll().map { $0 as? SiloError } == [failure, failure])
  }

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

  private func queue(_ silos: Silos) -> UploadQueue<Sent> {
    UploadQueue(in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2)))
  }

  @Test(
    "After a move uploads are enqueued with the changes, and sent behind those that wait",
    arguments: TestStores.all)
  func uploadsAfterAMove(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      func change(_ number: Int) async throws {
        try await silos.write { txn in
          try txn[Folder.self].save(Folder(number))
          try txn.enqueue(Sent(orderingKey: "\(number % 2)", number: number))
        }
      }
      for number in 0..<6 { try await change(number) }
      try await silos[Folder.self].move(to: WorkspaceValueStore<Folder>(MemoryWorkspace()))
      for number in 6..<12 { try await change(number) }
      // Values in the first store, too.
      try await silos.write { txn in
        try txn[Tag.self].save(Tag(id: "a"))
        try txn.enqueue(Sent(orderingKey: "0", number: 12))
      }
      #expect(try await queue(silos).statuses().map { $0.upload?.number } == Array(0...12))
      for number in 0..<12 {
        #expect(try await silos[Folder.self].isManaged(number), "\(number)")
      }
      #expect(try await silos[Tag.self].isManaged("a"))
      let received = Mutex<[Sent]>([])
      try await queue(silos).run(concurrency: 4, until: .idle) { upload, context in
        if upload.number % 3 == 0, context.attempt == 1 { throw CancellationError() }
        received.withLock { $0.append(upload) }
      }
      for key in ["0", "1"] {
        let numbers = received.withLock { $0 }.filter { $0.orderingKey == key }.map(\.number)
        #expect(numbers == (0...12).filter { "\($0 % 2)" == key })
      }
      #expect(try await silos[Folder.self].evict(Array(0..<12)) == 12)
      #expect(try await silos[Tag.self].evict("a"))
    }
  }

  @Test("Values in several stores each have their uploads beside them, in one queue")
  func severalStores() async throws {
    let (one, other) = (MemoryWorkspace(), MemoryWorkspace())
    func open() -> Silos {
      Silos(MemoryValueStore<Folder>(in: one), MemoryValueStore<Tag>(in: other))
    }
    let silos = open()
    for number in 0..<10 {
      try await silos.write { txn in
        if number % 2 == 0 {
          try txn[Folder.self].save(Folder(number))
        } else {
          try txn[Tag.self].save(Tag(id: "\(number)"))
        }
        try txn.enqueue(Sent(number: number))
      }
    }
    await #expect(throws: SiloError.self) {
      try await silos.write { txn in
        try txn[Folder.self].save(Folder(1))
        try txn[Tag.self].save(Tag(id: "a"))
      }
    }
    let reopened = open()
    #expect(try await reopened[Folder.self].isManaged(2))
    #expect(try await reopened[Tag.self].isManaged("3"))
    // A new process goes on behind what waits in all stores.
    try await reopened.write { txn in
      try txn[Folder.self].save(Folder(10))
      try txn.enqueue(Sent(number: 10))
    }
    let received = Mutex<[Int]>([])
    try await queue(reopened).run(concurrency: 3, until: .idle) { upload, _ in
      received.withLock { $0.append(upload.number) }
    }
    #expect(received.withLock { $0 } == Array(0...10))
    #expect(try await !reopened[Tag.self].isManaged("3"))
  }

  @Test("What waits to be uploaded stays managed after a move, also in the next process")
  func managedAfterAMove() async throws {
    let (one, other) = (MemoryWorkspace(), MemoryWorkspace())
    let silos = Silos(MemoryValueStore<Folder>(in: one), MemoryValueStore<Tag>(in: one))
    let keys = try await silos.write { txn in
      try txn[Folder.self].save([Folder(1), Folder(2)])
      try txn[Tag.self].save(Tag(id: "a"))
      return [
        try txn.enqueue(Sent(orderingKey: "x")), try txn.enqueue(Sent(orderingKey: "y")),
      ]
    }
    try await silos[Folder.self].move(to: MemoryValueStore<Folder>(in: other))
    let next = Silos(MemoryValueStore<Folder>(in: other), MemoryValueStore<Tag>(in: one))
    for key in keys {
      #expect(try await next[Folder.self].isManaged(1))
      #expect(try await next[Tag.self].isManaged("a"))
      #expect(try await queue(next).remove(key))
    }
    #expect(try await next[Folder.self].evict([1, 2]) == 2)
    #expect(try await next[Tag.self].evict("a"))
  }

  @Test("A hold that a crash has left without its upload ends with the next run")
  func orphans() async throws {
    let (one, other) = (MemoryWorkspace(), MemoryWorkspace())
    let silos = Silos(MemoryValueStore<Folder>(in: one), MemoryValueStore<Tag>(in: other))
    try await silos[Folder.self].save(Folder(1))
    let domain = silos[Folder.self].store.domain
    try await domain.write([StoredUpload.self]) { transaction in
      try transaction.save([
        StoredHold(id: UUID(), subjects: [Subject(Folder.self, 1).text], uploads: 0)
      ])
    }
    #expect(try await silos[Folder.self].isManaged(1))
    try await queue(silos).run(until: .idle) { _, _ in }
    #expect(try await !silos[Folder.self].isManaged(1))
  }
}
