// Numbers that no program has written, in what silos and stores keep beside values.

import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
@testable import Silo
import Testing

@Suite("Damaged numbers", .endsSometime)
struct DamagedNumbersTests {
  private static let numbers: [Int64] = [.min, -1, 0, .max]

  private func withStore(_ body: (Store) async throws -> Void) async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(Store(database: try LockingDatabase(url: directory)))
  }

  /// Asks for values in every way, and changes them. An error is an answer, too.
  private func use(_ users: Silo<User>) async throws {
    let all = (0..<20).map { User(id: $0, name: "\($0)", email: "\($0)@x") }
    for limit in [0, 5, .max] {
      for order in [[], [User.id.ascending], [User.id.descending], [User.name.ascending]] {
        _ = try? await users.values(orderBy: order, limit: limit)
        _ = try? await users.values(
          where: User.id >= 3 && User.name >= "3", orderBy: order, limit: limit)
        _ = try? await users.values(where: User.email >= "3", orderBy: order, limit: limit)
      }
    }
    _ = try? await users.count()
    _ = users.changes().initialValues
    try? await users.save(all)
    try? await users.save(User(id: 100, name: "new"))
    _ = try? await users.remove(3)
    _ = try? await users.migrate()
  }

  @Test("The count and the version of a table in LMDB", arguments: numbers)
  func tableState(number: Int64) async throws {
    try await withStore { store in
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save((0..<20).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try store.withTransaction { context in
        try context.insert(TableState(name: "users_v1", lastNumber: number, version: 0))
      }
      try await use(users)
      try store.withTransaction { context in
        try context.insert(TableState(name: "users", lastNumber: number, version: Int(number)))
      }
      try await use(Silos(EmpireValueStore<User>(store))[User.self])
    }
  }

  @Test("Values without an entry in the order of insertion can be saved and removed")
  func missingEntries() async throws {
    try await withStore { store in
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save((0..<5).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try store.withTransaction { context in
        let entries = IndexedValue.query(table: "users_v1", index: RowOrder.insertion)
        let count = try context.delete(entries)
        #expect(count == 5)
      }
      try await users.save(User(id: 1, name: "new", email: "new@x"))
      _ = try await users.remove(1)
      _ = try await users.remove(3)
      #expect(try await users.count() == 3)
    }
  }

  @Test("The numbers of rows and index entries in LMDB", arguments: numbers)
  func rows(number: Int64) async throws {
    try await withStore { store in
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save((0..<20).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try store.withTransaction { context in
        for row in try StoredRow.select(in: context, table: "users_v1").prefix(5) {
          try context.delete(row)
          try context.insert(
            StoredRow(table: row.table, hash: row.hash, number: number, bytes: row.bytes))
        }
        for index in try CompleteIndex.select(in: context, table: "users_v1") {
          for order in [0, .max] as [UInt64] {
            try context.insert(
              IndexedValue(
                table: "users_v1", index: index.index, order: order, hash: order, number: number,
                rowHash: order))
          }
        }
      }
      try await use(users)
    }
  }

  @Test("Marks, uploads, holds and records of moves", arguments: TestStores.all)
  func bookkeeping(stores: TestStores) async throws {
    let times: [Double] = [.nan, -.infinity, .infinity, -.greatestFiniteMagnitude, 1e300]
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      try await folders.save((0..<8).map { Folder($0) })
      let domain = folders.store.domain
      try await domain.write([Folder.self, StoredUpload.self, StoredMove.self]) { txn in
        for (id, time) in times.enumerated() {
          var mark = Mark<Folder>(id: id)
          mark.lastUse = Date(timeIntervalSinceReferenceDate: time)
          mark.size = id.isMultiple(of: 2) ? .max : .min
          try txn.save([mark])
        }
        for number in [Int64.min, -1, 0, 7] {
          var upload = StoredUpload(
            id: number, queue: "Sent", orderingKey: "\(number)", key: UUID(),
            payload: try JSONEncoder().encode(Sent(number: Int(number))))
          upload.attempts = number == 7 ? .max : Int(number)
          upload.nextAttempt = Date(
            timeIntervalSinceReferenceDate: times[Int(truncatingIfNeeded: number) & 1])
          upload.holds = [UUID()]
          try txn.save([upload])
          try txn.save([StoredHold(id: upload.holds[0], subjects: ["x"], uploads: Int(number))])
        }
        var move = StoredMove(id: Folder.moveID)
        (move.left, move.count) = (UUID(), .min)
        try txn.save([move])
      }
      folders.retention = .recent(age: .seconds(1), size: 10)
      try await folders.trim()
      folders.retention = .recent(age: .seconds(3600))
      try await folders.trim()
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .milliseconds(1), to: .milliseconds(2)))
      struct Offline: Error {}
      try await queue.run(until: .idle) { _, context in if context.attempt < 2 { throw Offline() } }
      #expect(try await queue.statuses().isEmpty)
    }
  }

  @Test("A last use that is no time counts as unknown", .endsSometime)
  func lastUseIsNoTime() async throws {
    let folders = Silos(.memory)[Folder.self]
    try await folders.save((0..<3).map { Folder($0) })
    try await folders.silos.write([Folder.self]) { txn in
      for (id, time) in [Double.nan, -Double.infinity, 0].enumerated() {
        var mark = Mark<Folder>(id: id)
        mark.lastUse = Date(timeIntervalSinceReferenceDate: time)
        try txn.access(Folder.self).save([mark])
      }
    }
    folders.retention = .recent(age: .seconds(3600))
    try await folders.trim()
    #expect(try await folders.values().map(\.id) == [0])
    folders.retention = .recent(count: 0)
    try await folders.trim()
    #expect(try await folders.count() == 0)
  }
}
