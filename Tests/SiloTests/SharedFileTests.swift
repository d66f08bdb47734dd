// Several workspaces on one file, as several processes have them.

import DflatTestSupport
import Foundation
import Platform
@testable import Silo
import SQLiteDflat
import Testing

@Suite("Several workspaces on one file")
struct SharedFileTests {
  private struct Counter: Upload {
    var orderingKey: String { "a" }
  }

  @Test("A program that is running is refused as soon as another one has moved its table on")
  func upgradeMeanwhile() async throws {
    try await withTemporaryFile(.file) { file in
      let old = Silos(in: file.workspace)[Letter.V1.self]
      try await old.save([.init(id: 1, title: "1"), .init(id: 2, title: "2")])
      #expect(try await old.load(1)?.title == "1")
      let other = SQLiteWorkspace(filePath: file.path)
      let letters = Silos(in: other)[Letter.self]
      #expect(try await letters.count() == 2)
      try await letters.migrate()
      let refusal = SiloError.newerVersion(table: "letters", stored: 3, known: 1)
      await #expect(throws: refusal) { try await old.load(1) }
      await #expect(throws: refusal) { try await old.load([1, 2]) }
      await #expect(throws: refusal) { try await old.values() }
      await #expect(throws: refusal) { try await old.count(where: Letter.V1.title == "1") }
      await #expect(throws: refusal) { try await old.save(.init(id: 3, title: "3")) }
      await #expect(throws: refusal) { try await old.remove(1) }
      // What the closure makes of an emptied table does not matter.
      struct NotThere: Error {}
      await #expect(throws: refusal) {
        try await old.silos.write { txn in
          if try txn[Letter.V1.self].load(1) == nil { throw NotThere() }
        }
      }
      let errors = ReportedErrors()
      old.silos.errorHandler = { errors.add($0) }
      for await _ in old.changes() { Issue.record("a change of a newer version") }
      #expect(errors.takeAll().compactMap { $0 as? SiloError } == [refusal])
      #expect(other.fetch(for: Canonical<Letter.V1>.self).all().isEmpty)
      #expect(try await letters.count() == 2)
      await other.shutdown(flags: [])
    }
  }

  @Test("A program that is running changes no pins and deletions once its table has moved on")
  func upgradeBesidePins() async throws {
    try await withTemporaryFile(.file) { file in
      let old = Silos(in: file.workspace)[Letter.V1.self]
      try await old.save((1...4).map { .init(id: $0, title: "\($0)") })
      try await old.pin(1)
      try await old.delete(4)
      let other = SQLiteWorkspace(filePath: file.path)
      let letters = Silos(in: other)[Letter.self]
      try await letters.save(Letter(id: 9, subject: "new", words: []))
      try await letters.migrate()
      let refusal = SiloError.newerVersion(table: "letters", stored: 3, known: 1)
      await #expect(throws: refusal) { try await old.pin(2) }
      await #expect(throws: refusal) { try await old.unpin(1) }
      await #expect(throws: refusal) { try await old.forgetDeletion(4) }
      await #expect(throws: refusal) { try await old.isManaged(1) }
      await #expect(throws: refusal) { try await old.migrate() }
      // Not that they are managed, or were deleted.
      await #expect(throws: refusal) { try await old.evict(1) }
      await #expect(throws: refusal) { try await old.save(.init(id: 4, title: "4")) }
      #expect(try await letters.isManaged(1))
      #expect(try await !letters.isManaged(2))
      #expect(try await letters.isDeleted(4))
      await other.shutdown(flags: [])
    }
  }

  @Test(
    "Watching ends with an error when the values are migrated to a newer version",
    .endsSometime, arguments: [nil, 2])
  func upgradeUnderWatchers(limit: Int?) async throws {
    try await withTemporaryFile(.file) { file in
      let silos = Silos(in: file.workspace)
      let old = silos[Letter.V1.self]
      try await old.save((0..<5).map { .init(id: $0, title: "\($0)") })
      let errors = ReportedErrors()
      silos.errorHandler = { errors.add($0) }
      let changes = old.changes(limit: limit)
      // In this workspace, so that the watcher hears of it at once.
      try await Silos(in: file.workspace)[Letter.self].migrate()
      for await change in changes { Issue.record("\(change.removals.count) values went") }
      #expect(
        errors.takeAll().compactMap { $0 as? SiloError }
          == [.newerVersion(table: "letters", stored: 3, known: 1)])
    }
  }

  @Test("A program that goes on with its own version notices other commits, and works")
  func sameVersion() async throws {
    try await withTemporaryFile(.file) { file in
      let tags = Silos(in: file.workspace)[Tag.self]
      let other = SQLiteWorkspace(filePath: file.path)
      let others = Silos(in: other)[Tag.self]
      for round in 0..<5 {
        try await tags.save(Tag(id: "\(round)"))
        #expect(try await others.load("\(round)") != nil)
        try await others.save(Tag(id: "\(round)", color: "blue"))
        #expect(try await tags.load("\(round)")?.color == "blue")
      }
      await other.shutdown(flags: [])
    }
  }

  @Test("Every increment of several workspaces is kept, and none ends in a conflict")
  func increments() async throws {
    try await withTemporaryFile(.file) { file in
      let others = (0..<3).map { _ in SQLiteWorkspace(filePath: file.path) }
      let all = [file.workspace] + others
      try await Silos(in: file.workspace)[User.self].save(User(id: 0, name: "0"))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for workspace in all {
          group.addTask {
            let silos = Silos(in: workspace)
            for _ in 0..<100 {
              try await silos.write { txn in
                var user = try #require(try txn[User.self].load(0))
                user.name = "\(Int(user.name)! + 1)"
                try txn[User.self].save(user)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await Silos(in: file.workspace)[User.self].load(0)?.name == "400")
      for other in others { await other.shutdown(flags: []) }
    }
  }

  @Test("A cached value is not older than what another workspace has committed")
  func caching() async throws {
    try await withTemporaryFile(.file) { file in
      let silos = Silos(
        CachedValueStore(of: WorkspaceValueStore<Tag>(file.workspace), limit: 10))
      let tags = silos[Tag.self]
      try await tags.save([Tag(id: "a"), Tag(id: "b")])
      #expect(try await tags.load(["a", "b"]).map(\.color) == ["red", "red"])
      let other = SQLiteWorkspace(filePath: file.path)
      try await Silos(in: other)[Tag.self].save(Tag(id: "a", color: "blue"))
      #expect(try await tags.load("a")?.color == "blue")
      try await Silos(in: other)[Tag.self].save(Tag(id: "b", color: "blue"))
      #expect(try await tags.load(["a", "b"]).map(\.color) == ["blue", "blue"])
      await other.shutdown(flags: [])
    }
  }

  @Test("A queue that waits sends what another workspace enqueues", .endsSometime)
  func uploads() async throws {
    try await withTemporaryFile(.file) { file in
      let queue = UploadQueue<Counter>(
        in: Silos(in: file.workspace), retry: .exponential(from: .seconds(1), to: .minutes(1)))
      let (sent, continuation) = AsyncStream<Void>.makeStream()
      let run = _Concurrency.Task {
        try await queue.run { _, _ in continuation.yield() }
      }
      let other = SQLiteWorkspace(filePath: file.path)
      // The first may come before the run looks; at the later ones it waits.
      var uploads = sent.makeAsyncIterator()
      for _ in 0..<5 {
        _ = try await Silos(in: other).write { try $0.enqueue(Counter()) }
        await uploads.next()
      }
      run.cancel()
      _ = await run.result
      await other.shutdown(flags: [])
    }
  }
}
