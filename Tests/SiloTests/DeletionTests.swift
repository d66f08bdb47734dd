// Deletions: rules and tombstones, on every store.

import DflatTestSupport
import Foundation
import Platform
@testable import Silo
import Testing

@Suite("Deletions")
struct DeletionTests {
  @Test("Rules cascade, nullify and do nothing", arguments: TestStores.all)
  func rules(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos.write { txn in
        // 1 and 2 contain each other.
        try txn[Folder.self].save([Folder(1, in: 2), Folder(2, in: 1), Folder(3, in: 2), Folder(4)])
        try txn[Memo.self].save([
          Memo(1, in: 3), Memo(2, in: 4, labels: ["x", "y"], marks: ["x", "y", "x"], about: 2),
          Memo(3, in: 4, about: 4),
        ])
        try txn[Label.self].save([Label(id: "x"), Label(id: "y")])
      }
      #expect(try await silos[Folder.self].delete(1))
      #expect(try await silos[Folder.self].values().map(\.id) == [4])
      let memos = try await silos[Memo.self].values(orderBy: [Memo.id.ascending])
      #expect(memos.map(\.id) == [2, 3])
      #expect(memos.map(\.about?.id) == [nil, 4])
      #expect(memos[0].labels.count == 2)
      try await silos[Label.self].delete("x")
      let memo = try #require(try await silos[Memo.self].load(2))
      #expect(memo.labels == RelatedItems(ids: ["y"]) && memo.marks.ids == ["y"])
      // What was deleted by a rule does not come back either.
      #expect(try await silos[Folder.self].isDeleted(3))
      #expect(try await silos[Memo.self].isDeleted(1))
    }
  }

  @Test(
    "A denied deletion changes nothing, unless it reaches who denies", arguments: TestStores.all)
  func denial(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[Folder.self].save([Folder(1), Folder(2, in: 1)])
      try await silos[Lock.self].save(Lock(5, of: 2))
      try await silos[Memo.self].save(Memo(1, in: 1))
      let denial = SiloError.deletionDenied(
        type: "Folder", by: "Lock", id: "5", property: "folder")
      await #expect(throws: denial) { try await silos[Folder.self].delete(1) }
      #expect(try await silos[Folder.self].count() == 2)
      #expect(try await silos[Memo.self].count() == 1)
      #expect(try await !silos[Folder.self].isDeleted(1))
      try await silos.write { txn in
        try txn[Lock.self].delete(5)
        try txn[Folder.self].delete(1)
      }
      #expect(try await silos[Folder.self].count() == 0)
      #expect(try await silos[Memo.self].count() == 0)
    }
  }

  @Test("A deleted value cannot be saved by accident", arguments: TestStores.all)
  func tombstones(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = silos[Tag.self]
      try await tags.save([Tag(id: "a"), Tag(id: "b")])
      try await tags.delete("a")
      let refusal = SiloError.deleted(type: "Tag", id: "a")
      await #expect(throws: refusal) { try await tags.save([Tag(id: "c"), Tag(id: "a")]) }
      await #expect(throws: refusal) {
        try await silos[Task.self].save(
          Task(tags: [.resolved(Tag(id: "a"))]), related: .deep)
      }
      #expect(try await tags.values().map(\.id) == ["b"])
      #expect(try await silos[Task.self].count() == 0)
      try await tags.save([Tag(id: "a"), Tag(id: "c")], ifDeleted: .skip)
      #expect(try await tags.values().map(\.id) == ["b", "c"])
      // The user makes it again.
      try await tags.save(Tag(id: "a", color: "new"), ifDeleted: .recreate)
      #expect(try await !tags.isDeleted("a"))
      try await tags.save(Tag(id: "a", color: "newer"))
      #expect(try await tags.load("a")?.color == "newer")
      try await tags.delete("a")
      try await tags.forgetDeletion("a")
      try await tags.save(Tag(id: "a"))
      #expect(try await tags.count() == 3)
    }
  }

  @Test("A tombstone is over when the deletion is uploaded", arguments: TestStores.all)
  func upload(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = silos[Tag.self]
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
      func delete() async throws {
        try await silos.write { txn in
          try txn[Tag.self].delete("a")
          try txn.enqueue(Sent())
        }
      }
      // Deleted, made again and deleted again, before anything is uploaded.
      try await tags.save(Tag(id: "a"))
      try await delete()
      try await tags.save(Tag(id: "a"), ifDeleted: .recreate)
      try await delete()
      let first = try #require(try await queue.statuses().first)
      try await queue.remove(first.id)
      #expect(try await tags.isDeleted("a"))
      await #expect(throws: SiloError.self) { try await tags.save(Tag(id: "a")) }
      try await queue.run(until: .idle) { _, _ in }
      #expect(try await !tags.isDeleted("a"))
      try await tags.save(Tag(id: "a"))
      #expect(try await tags.count() == 1)
    }
  }

  @Test("A late answer of a resolver does not bring a value back", arguments: TestStores.all)
  func lateAnswer(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let users = silos[User.self]
      let (asked, isAsked) = AsyncStream<Void>.makeStream()
      let (answers, answer) = AsyncStream<Void>.makeStream()
      users.resolve(window: .zero) { ids in
        isAsked.yield()
        for await _ in answers { break }
        return ids.map { User(id: $0, name: "late") }
      }
      let late = _Concurrency.Task { try await silos.resolve(RelatedItem<User>(id: 1)) }
      for await _ in asked { break }
      try await users.delete(1)
      // Even if the server has learnt of the deletion before the answer comes.
      try await users.forgetDeletion(1)
      answer.yield()
      await #expect(throws: SiloError.unknownID(type: "User", id: "1")) { try await late.value }
      #expect(try await users.count() == 0)
      try await users.delete(2)
      await #expect(throws: SiloError.deleted(type: "User", id: "2")) {
        try await silos.resolve(RelatedItem<User>(id: 2))
      }
      try await silos[Task.self].save(Task("t", owner: .unresolved(id: 2)))
      #expect(try await users.unresolvedIDs().isEmpty)
    }
  }

  @Test("A deletion may be the first call of a process")
  func firstCall() async throws {
    let silos = Silos(.memory)
    #expect(try await !silos.write { try $0[Tag.self].delete("a") })
    #expect(try await silos[Tag.self].isDeleted("a"))
  }

  @Test(
    "A second deletion without an upload does not outlive the upload of the first",
    arguments: TestStores.all)
  func deletedAgain(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = silos[Tag.self]
      try await tags.save(Tag(id: "a"))
      try await silos.write { txn in
        try txn[Tag.self].delete("a")
        try txn.enqueue(Sent())
      }
      try await tags.delete(["a", "b"])
      #expect(try await tags.isDeleted("a"))
      try await UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2))
      ).run(until: .idle) { _, _ in }
      #expect(try await !tags.isDeleted("a"))
      #expect(try await tags.isDeleted("b"))
      // A deletion without an upload that comes later is one of its own.
      try await tags.delete("a")
      #expect(try await tags.isDeleted("a"))
    }
  }

  @Test("Tombstones that are over are cleared by later deletions", arguments: TestStores.all)
  func clearing(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let tags = silos[Tag.self]
      func delete(_ ids: [String]) async throws {
        try await silos.write { txn in
          try txn[Tag.self].delete(ids)
          try txn.enqueue(Sent())
        }
      }
      func count() async throws -> Int {
        try await tags.store.domain.store(of: Tombstone<Tag>.self).count(ValueQuery())
      }
      try await tags.delete("kept")
      try await delete((0..<150).map { "\($0)" })
      try await UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2))
      ).run(until: .idle) { _, _ in }
      #expect(try await count() == 151)
      try await delete(["a"])
      #expect(try await count() == 52)
      try await delete(["b"])
      #expect(try await count() == 3)
      for id in ["kept", "a", "b"] { #expect(try await tags.isDeleted(id)) }
    }
  }
}
