// What is special about values in LMDB: files, long ids, versions.

import Dflat
import Empire
@testable import EmpireSilo
import Foundation
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
