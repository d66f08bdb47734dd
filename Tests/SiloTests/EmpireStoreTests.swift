// What is special about values in LMDB: files, long ids, versions.

import Dflat
import Empire
@testable import EmpireSilo
import Foundation
import Platform
import Silo
import Testing

@Persistable(version: 1, table: "jobs", shape: "id:S")
struct Job: Identifiable, Hashable, Sendable { var id: String }

/// Its table has the name that `Job` has with its version.
@Persistable(version: 1, table: "jobs_v1", shape: "id:S")
struct JobOfOne: Identifiable, Hashable, Sendable { var id: String }

@Suite("Values in LMDB")
struct EmpireStoreTests {
  private func withDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
  }

  private func open(_ directory: URL) throws -> Store {
    Store(database: try LockingDatabase(url: directory))
  }

  @Test("Values and uploads are there when the directory is opened again")
  func reopening() async throws {
    try await withDirectory { directory in
      let id = String(repeating: "long id ", count: 500)
      do {
        let silos = Silos(EmpireValueStore<Tag>(try open(directory)))
        try await silos[Tag.self].save([Tag(id: id, color: "blue"), Tag(id: "b")])
        try await silos[Tag.self].save(Tag(id: id, color: "green"))
      }
      let tags = Silos(EmpireValueStore<Tag>(try open(directory)))[Tag.self]
      #expect(try await tags.load(id)?.color == "green")
      #expect(try await tags.values().map(\.id) == [id, "b"])
    }
  }

  @Test("While many changes wait for a writer, readers and other tasks go on")
  func waitingWriters() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let tags = EmpireValueStore<Tag>(store)
      try await tags.save([Tag(id: "a")])
      let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let endedInTime = Mutex(false)
      let (ended, end) = AsyncStream.makeStream(of: Void.self)
      Thread.detachNewThread {
        try? store.withTransaction { _ in
          hasBegun.signal()
          let result = mayEnd.wait(timeout: .now() + .seconds(120))
          endedInTime.withLock { $0 = result == .success }
        }
        end.finish()
      }
      hasBegun.wait()
      try await withThrowingTaskGroup(of: Void.self) { group in
        // More than the system has threads for blocks that wait.
        for number in 0..<300 {
          group.addTask { try await tags.save([Tag(id: "\(number)")]) }
        }
        for _ in 0..<20 {
          #expect(try await tags.load(["a"]).count == 1)
          await _Concurrency.Task.detached { await _Concurrency.Task.yield() }.value
        }
        mayEnd.signal()
        try await group.waitForAll()
      }
      for await _ in ended {}
      #expect(endedInTime.withLock { $0 })
      #expect(try await tags.count(ValueQuery()) == 301)
    }
  }

  @Test("A cache has what another store of the directory has changed, when the change returns")
  func cachedBesideOthers() async throws {
    try await withDirectory { directory in
      let tags = CachedValueStore(of: EmpireValueStore<Tag>(try open(directory)), limit: 10)
      let others = EmpireValueStore<Tag>(try open(directory))
      try await tags.save([Tag(id: "a"), Tag(id: "b")])
      for color in ["blue", "green"] {
        #expect(try await tags.load("a") != nil)
        try await others.save(Tag(id: "a", color: color))
        #expect(try await tags.load("a")?.color == color)
      }
      // What the store itself changes ends the caching of nothing else.
      let seen = Mutex<[[String]?]>([])
      let subscription = tags.subscribe { ids in seen.withLock { $0.append(ids) } }
      try await tags.save(Tag(id: "a"))
      try await others.remove("a")
      #expect(seen.withLock(\.self) == [nil, ["a"], nil])
      #expect(try await tags.load("a") == nil)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("Retained versions are migrated at the first use, and an older program is refused")
  func versions() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let old = Silos(EmpireValueStore<Letter.V1>(store))[Letter.V1.self]
      try await old.save((0..<1200).map { .init(id: $0, title: "\($0)") })
      try await old.save(.init(id: 5000, title: "drop"))
      let letters = Silos(EmpireValueStore<Letter>(store))[Letter.self]
      #expect(try await letters.count() == 1200)
      #expect(try await letters.load(7)?.words == ["text", "of", "7"])
      let refusal = SiloError.newerVersion(table: "letters", stored: 3, known: 1)
      await #expect(throws: refusal) { try await old.load(1) }
      await #expect(throws: refusal) { try await old.save(.init(id: 1, title: "")) }
      #expect(try await letters.count() == 1200)
    }
  }

  @Test("A damaged record is an error")
  func damage() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let tags = Silos(EmpireValueStore<Tag>(store))[Tag.self]
      try await tags.save(Tag(id: "a"))
      try store.withTransaction { context in
        let rows = try StoredRow.select(in: context, table: "tags_v1")
        for row in rows {
          try context.insert(
            StoredRow(
              table: row.table, hash: row.hash, number: row.number, bytes: Data([1, 2, 3])))
        }
      }
      await #expect(throws: (any Error).self) { try await tags.load("a") }
      await #expect(throws: (any Error).self) { try await tags.values() }
    }
  }

  /// Damages the row of a value of a type with one table.
  private func damage(_ id: some Hashable, of table: String, in store: Store) throws {
    try store.withTransaction { context in
      let row = try #require(
        try StoredRow.select(in: context, table: table, hash: hash(of: id)).first)
      try context.insert(
        StoredRow(table: table, hash: row.hash, number: row.number, bytes: Data([1, 2, 3])))
    }
  }

  @Test("The error of a damaged record names the table and the row")
  func damageIsNamed() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save((1...3).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try damage(2, of: "users_v1", in: store)
      for read: @Sendable () async throws -> Void in [
        { _ = try await users.load(2) }, { _ = try await users.values() },
        { _ = try await users.values(orderBy: [User.id.ascending], limit: 3) },
        { _ = try await users.values(limit: 3) },
      ] {
        let error = await #expect(throws: StorageError.self) { try await read() }
        #expect(error?.cause == .corruptRow && error?.table == "users_v1")
        #expect("\(try #require(error))".contains("row 2"))
      }
      #expect(try await users.load(1)?.name == "1")
    }
  }

  @Test("A damaged record can be removed, deleted and replaced", arguments: 0..<3)
  func damageIsRemoved(way: Int) async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save((1...3).map { User(id: $0, name: "\($0)", email: "\($0)@x") })
      try damage(2, of: "users_v1", in: store)
      switch way {
      case 0: #expect(try await users.remove(2))
      case 1: try await users.delete(2)
      default: try await users.save(User(id: 2, name: "new", email: "new@x"))
      }
      let ids = way < 2 ? [1, 3] : [1, 2, 3]
      #expect(try await users.values().map(\.id) == ids)
      #expect(try await users.values(limit: 10).map(\.id) == ids)
      #expect(try await users.values(where: User.email >= "").map(\.id) == ids)
      #expect(try await users.values(where: User.email == "2@x").isEmpty)
      #expect(try await users.count() == ids.count)
      // Its unique value is free again.
      try await users.save(User(id: 4, name: "4", email: "2@x"))
      #expect(try await users.values(where: User.email == "2@x").map(\.id) == [4])
    }
  }

  @Test("A damaged record with a text as its id can be removed, and its neighbours are not")
  func damagedText() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let tags = Silos(EmpireValueStore<Tag>(store))[Tag.self]
      try await tags.save(["a", "b", "c"].map { Tag(id: $0) })
      try damage("b", of: "tags_v1", in: store)
      #expect(try await tags.remove("b"))
      #expect(try await tags.values(orderBy: [Tag.id.ascending]).map(\.id) == ["a", "c"])
      #expect(try await tags.values(where: Tag.id >= "a").map(\.id) == ["a", "c"])
      #expect(try await !tags.remove("b"))
    }
  }

  @Test("A table whose name is that of another one with its version is another table")
  func namesOfTables() async throws {
    try await withDirectory { directory in
      let store = try open(directory)
      let silos = Silos(EmpireValueStore<Job>(store), EmpireValueStore<JobOfOne>(store))
      let (jobs, others) = (silos[Job.self], silos[JobOfOne.self])
      for number in 0..<4 {
        try await jobs.save(Job(id: "a\(number)"))
        try await others.save(JobOfOne(id: "b\(number)"))
      }
      #expect(try await jobs.values(limit: 10).map(\.id) == ["a0", "a1", "a2", "a3"])
      #expect(try await others.values(limit: 10).map(\.id) == ["b0", "b1", "b2", "b3"])
      for number in 0..<4 { #expect(try await jobs.remove("a\(number)")) }
      #expect(try await others.count() == 4)
    }
  }

  @Test("Changes that begin while values are saved have no false removals")
  func changesWhileSaving() async throws {
    try await withDirectory { directory in
      let tags = Silos(EmpireValueStore<Tag>(try open(directory)))[Tag.self]
      for round in 0..<60 {
        async let saved: Void = tags.save(Tag(id: "\(round)"))
        var changes = tags.changes().makeAsyncIterator()
        try await saved
        try await tags.save(Tag(id: "\(round) again"))
        let first = try #require(await changes.next())
        #expect(first.removals.isEmpty && !first.insertions.isEmpty)
      }
    }
  }
}
