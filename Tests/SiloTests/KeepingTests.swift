// Pins, eviction and retention policies, on every store.

import DflatTestSupport
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import Testing

@Suite("Keeping values")
struct KeepingTests {
  private func queue(_ silos: Silos) -> UploadQueue<Sent> {
    UploadQueue(in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)))
  }

  @Test("An evicted value is unresolved, and can be fetched again", arguments: TestStores.all)
  func eviction(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[User.self].save(User(id: 1, name: "Ada"))
      let task = Task("t", owner: .unresolved(id: 1))
      try await silos[Task.self].save(task)
      #expect(try await silos[User.self].evict(1))
      #expect(try await !silos[User.self].evict(1))
      let loaded = try await silos[Task.self].load(task.id, resolving: \.owner)
      #expect(loaded?.owner.isResolved == false && loaded?.owner.id == 1)
      #expect(try await silos[User.self].unresolvedIDs() == [1])
      try await silos[User.self].save(User(id: 1, name: "Ada again"))
      #expect(try await silos[User.self].load(1)?.name == "Ada again")
    }
  }

  @Test("Pinned values, and what they retain, are not evicted", arguments: TestStores.all)
  func pins(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      // A circle, and a chain that leads into it.
      try await folders.save([
        Folder(1, in: 2), Folder(2, in: 1), Folder(3, in: 1), Folder(4, in: 3), Folder(5, in: 4),
      ])
      try await folders.pin(4)
      for id in [1, 2, 3, 4] {
        await #expect(throws: SiloError.managed(type: "Folder", id: "\(id)")) {
          try await folders.evict(id)
        }
      }
      await #expect(throws: SiloError.managed(type: "Folder", id: "2")) {
        try await folders.evict([5, 2])
      }
      #expect(try await folders.count() == 5)
      #expect(try await folders.evict(5))
      try await folders.unpin(4)
      #expect(try await !folders.isManaged(1))
      #expect(try await folders.evict([1, 2, 3, 4]) == 4)
    }
  }

  @Test("Relations to several values retain", arguments: TestStores.all)
  func retainedLabels(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let ids = ["e\u{301}", "é", "b"]
      try await silos[Label.self].save(ids.map { Label(id: $0) })
      try await silos.write { txn in
        try txn[Memo.self].save(Memo(1, in: 1, labels: [ids[0]], marks: ["b"]))
        try txn[Memo.self].pin(1)
        try txn[Folder.self].save(Folder(1))
      }
      await #expect(throws: SiloError.self) { try await silos[Label.self].evict(ids[0]) }
      // Compared by bytes; and neither `marks` nor `folder` retain.
      #expect(try await silos[Label.self].evict(ids[1]))
      #expect(try await silos[Label.self].evict("b"))
      #expect(try await silos[Folder.self].evict(1))
    }
  }

  @Test("What waits to be uploaded is managed until it is done", arguments: TestStores.all)
  func uploads(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      try await folders.save([Folder(1), Folder(9)])
      try await silos.write { txn in
        try txn[Folder.self].save([Folder(2, in: 1), Folder(3)])
        try txn.enqueue(Sent())
        #expect((try? txn[Folder.self].evict(3)) == nil)
      }
      // Two uploads of different keys: both hold what their transaction has changed.
      try await silos.write { txn in
        try txn.enqueue(Sent(orderingKey: "a"))
        try txn[Folder.self].save(Folder(4))
        try txn.enqueue(Sent(orderingKey: "b"))
        try txn[Folder.self].keepUntilUploaded(9)
      }
      for id in [1, 2, 3, 4, 9] { #expect(try await folders.isManaged(id), "\(id)") }
      let uploads = try await queue(silos).statuses()
      #expect(uploads.map(\.orderingKey) == ["all", "a", "b"])
      try await queue(silos).remove(uploads[1].id)
      for id in [1, 2, 3, 4, 9] { #expect(try await folders.isManaged(id), "\(id)") }
      try await queue(silos).remove(uploads[2].id)
      #expect(try await folders.evict([4, 9]) == 2)
      try await queue(silos).run(until: .idle) { _, _ in }
      #expect(try await folders.evict([1, 2, 3]) == 3)
    }
  }

  @Test("Coalesced uploads go on managing what the replaced ones did", arguments: TestStores.all)
  func coalescing(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      for id in 0..<3 {
        try await silos.write { txn in
          try txn[Folder.self].save(Folder(id))
          try txn.enqueue(Sent(number: id))
          if id == 1 { try txn.enqueue(Sent(orderingKey: "other", number: id)) }
        }
      }
      let seen = Mutex<[Int]>([])
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)),
        coalesce: { Array($0.suffix(1)) }, onFailure: { _, _, _ in .park })
      struct Refusal: Error {}
      try await queue.run(until: .idle) { upload, _ in
        seen.withLock { $0.append(upload.number) }
        if upload.orderingKey == "all" { throw Refusal() }
      }
      #expect(seen.withLock { $0.sorted() } == [1, 2])
      // The one that is left stands for all three.
      for id in 0..<3 { #expect(try await folders.isManaged(id), "\(id)") }
      for status in try await queue.statuses() { try await queue.remove(status.id) }
      #expect(try await folders.evict([0, 1, 2]) == 3)
    }
  }

  @Test("The least recently used values go, and managed ones stay", arguments: TestStores.all)
  func recentCount(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      // These are there before the policy.
      try await folders.save((0..<30).map { Folder($0) })
      try await folders.pin([0, 1])
      folders.retention = .recent(count: 10)
      #expect(folders.retention == .recent(count: 10))
      try await folders.trim(step: 7)
      #expect(try await folders.count() == 10)
      #expect(try await folders.load([0, 1]).count == 2)
      // Used in this order, with a new one that is not used any more.
      let left = try await folders.values(orderBy: [Folder.id.ascending]).map(\.id)
      try await folders.trim()
      for id in left.dropFirst(4) { _ = try await folders.load(id) }
      try await folders.save([Folder(100), Folder(101)])
      try await folders.trim(step: 3)
      let kept = try await folders.values(orderBy: [Folder.id.ascending]).map(\.id)
      #expect(kept == left.prefix(2) + left.dropFirst(4) + [100, 101])
      folders.retention = .recent(count: 0)
      try await folders.trim(step: 1)
      #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [0, 1])
    }
  }

  @Test("Values that are too old or too many bytes go", arguments: TestStores.all)
  func recentAgeAndSize(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      folders.retention = .recent(size: 100_000)
      let long = String(repeating: "x", count: 20_000)
      for id in 0..<10 { try await folders.save(Folder(id, name: long)) }
      try await folders.trim()
      #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [6, 7, 8, 9])
      // Smaller values need less.
      try await folders.save((6...9).map { Folder($0) })
      try await folders.save(Folder(11, name: long))
      try await folders.trim()
      #expect(try await folders.count() == 5)
      folders.retention = .recent(age: .seconds(3600))
      try await folders.trim()
      #expect(try await folders.count() == 5)
      folders.retention = .recent(age: .zero)
      try await folders.trim()
      #expect(try await folders.count() == 0)
    }
  }

  @Test("The newest values stay, also when trimming runs beside saving", arguments: TestStores.all)
  func trimmingBesideSaving(stores: TestStores) async throws {
    for policy in [RetentionPolicy.recent(size: 100_000), .recent(count: 4)] {
      try await stores.withSilos { silos in
        let folders = silos[Folder.self]
        folders.retention = policy
        let long = String(repeating: "x", count: 20_000)
        let count = isLongRun ? 60 : 25
        for id in 0..<count {
          async let trimmed = folders.trim()
          try await folders.save(Folder(id, name: long))
          // What was saved just now is there, whatever went.
          #expect(try await folders.count(where: Folder.id == id) == 1)
          _ = try await trimmed
        }
        try await folders.trim()
        let kept = try await folders.values(orderBy: [Folder.id.ascending]).map(\.id)
        #expect(kept == Array(count - 4..<count))
      }
    }
  }

  @Test("A value that was saved counts as used before others can see it")
  func usedWhenVisible() async throws {
    let silos = Silos(in: MemoryWorkspace())
    let folders = silos[Folder.self]
    folders.retention = .recent(count: 2)
    try await folders.save((0..<2).map { Folder($0) })
    try await folders.trim()
    let isUsed = Atomic<Bool>(false)
    try await silos.write { txn in
      // Runs after the commit, and before what else the saving has done then.
      txn.afterCommit { isUsed.store($0[Folder.self].state.accesses.isUsed(0), ordering: .relaxed) }
      try txn[Folder.self].save([Folder(0, name: "anew"), Folder(2)])
    }
    let wasUsed = isUsed.load(ordering: .relaxed)
    #expect(wasUsed)
    try await folders.trim()
    #expect(try await folders.load([0, 1, 2]).count == 2)
    #expect(try await folders.load(1) == nil)
  }

  @Test("Times of last use outlive the process, and reading is no writing")
  func lastUse() async throws {
    let memory = MemoryWorkspace()
    do {
      let folders = Silos(in: memory)[Folder.self]
      folders.retention = .recent(count: 100)
      for id in 0..<6 { try await folders.save(Folder(id)) }
      try await folders.trim()
      _ = try await folders.load(1)
      _ = try await folders.load(0)
      let before = memory.fetch(for: Canonical<Folder>.self).all()
      _ = try await folders.load([0, 1])
      #expect(memory.fetch(for: Canonical<Folder>.self).all() == before)
      try await folders.trim()
    }
    let folders = Silos(in: memory)[Folder.self]
    folders.retention = .recent(count: 3)
    try await folders.trim()
    #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [0, 1, 5])
  }

  @Test("A silo trims itself after changes")
  func background() async throws {
    let folders = Silos(.memory)[Folder.self]
    folders.retention = .recent(count: 5)
    try await folders.save((0..<50).map { Folder($0) })
    #expect(try await inTime { try await folders.count() == 5 })
  }

  @Test("A move takes pins, times of use and tombstones along")
  func moving() async throws {
    let silos = Silos(.memory)
    let folders = silos[Folder.self]
    try await folders.save([Folder(1), Folder(2), Folder(3)])
    try await folders.pin(1)
    try await folders.delete(3)
    try await folders.move(to: MemoryValueStore<Folder>())
    #expect(try await folders.isDeleted(3))
    await #expect(throws: SiloError.managed(type: "Folder", id: "1")) {
      try await folders.evict(1)
    }
    #expect(try await folders.evict(2))
  }

  @Test("A type with rules that the process has not used stops evictions and deletions")
  func unknownTypes() async throws {
    let memory = MemoryWorkspace()
    try await Silos(in: memory)[Memo.self].save(Memo(1, in: 7, labels: ["a"]))
    let silos = Silos(in: memory)
    try await silos[Label.self].save(Label(id: "a"))
    let refusal = SiloError.unknownReferrer(table: "memos", target: "Label")
    await #expect(throws: refusal) { try await silos[Label.self].evict("a") }
    await #expect(throws: refusal) { try await silos[Label.self].delete("a") }
    _ = silos[Memo.self]
    #expect(try await silos[Label.self].delete("a"))
    #expect(try await silos[Memo.self].load(1)?.labels.isEmpty == true)
  }

  @Test(
    "What a transaction evicts is not managed by what it changes besides",
    arguments: TestStores.all)
  func evictionBeforeUpload(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      try await silos[Label.self].save(Label(id: "a"))
      await #expect(throws: SiloError.managed(type: "Folder", id: "1")) {
        try await silos.write { txn in
          try txn[Folder.self].save(Folder(1))
          try txn[Folder.self].evict(1)
          try txn.enqueue(Sent())
        }
      }
      await #expect(throws: SiloError.managed(type: "Label", id: "a")) {
        try await silos.write { txn in
          try txn[Memo.self].save(Memo(1, in: 1, labels: ["a"]))
          try txn.enqueue(Sent())
          try txn[Label.self].evict("a")
        }
      }
      #expect(try await queue(silos).statuses().isEmpty)
      #expect(try await silos[Label.self].count() == 1)
      // What is there again, or was deleted, is not lost.
      try await silos.write { txn in
        try txn[Label.self].evict("a")
        try txn[Label.self].save(Label(id: "a"))
        try txn[Folder.self].save(Folder(2))
        try txn[Folder.self].evict(2)
        try txn[Folder.self].delete(2)
        try txn.enqueue(Sent())
      }
      #expect(try await silos[Label.self].isManaged("a"))
      #expect(try await silos[Folder.self].isDeleted(2))
    }
  }

  @Test("Each of several coalesced uploads goes on managing", arguments: TestStores.all)
  func coalescingToSeveral(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      for id in 0..<3 {
        try await silos.write { txn in
          try txn[Folder.self].save(Folder(id))
          try txn.enqueue(Sent(number: id))
          if id == 1 { try txn.enqueue(Sent(orderingKey: "other", number: id)) }
        }
      }
      let queue = UploadQueue<Sent>(
        in: silos, retry: .exponential(from: .seconds(1), to: .seconds(2)),
        coalesce: { $0.count > 2 ? [$0[0], $0[2]] : $0 }, onFailure: { _, _, _ in .park })
      struct Refusal: Error {}
      try await queue.run(until: .idle) { upload, _ in
        if upload.orderingKey == "all" { throw Refusal() }
      }
      let left = try await queue.statuses()
      #expect(left.map(\.upload?.number) == [0, 2])
      try await queue.remove(left[1].id)
      for id in 0..<3 { #expect(try await folders.isManaged(id), "\(id)") }
      try await queue.remove(left[0].id)
      #expect(try await folders.evict([0, 1, 2]) == 3)
    }
  }

  @Test("Sizes that no row has are no sizes")
  func damagedSizes() async throws {
    let folders = Silos(.memory)[Folder.self]
    try await folders.save((0..<4).map { Folder($0) })
    try await folders.silos.write([Folder.self]) { txn in
      try txn.access(Folder.self).save(
        [Int.max, .max, .min, .min].enumerated().map { id, size in
          var mark = Mark<Folder>(id: id)
          mark.size = size
          mark.lastUse = Date(timeIntervalSince1970: Double(id))
          return mark
        })
    }
    folders.retention = .recent(size: 1000)
    try await folders.trim()
    #expect(try await folders.values(orderBy: [Folder.id.ascending]).map(\.id) == [2, 3])
  }

  @Test("A pin stays when the value is removed", arguments: TestStores.all)
  func removedPin(stores: TestStores) async throws {
    try await stores.withSilos { silos in
      let folders = silos[Folder.self]
      folders.retention = .recent(count: 10)
      try await folders.save([Folder(1), Folder(2)])
      try await folders.pin(1)
      try await folders.trim()
      #expect(try await folders.remove([1, 2]) == 2)
      try await folders.save([Folder(1), Folder(2)])
      #expect(try await folders.isManaged(1))
      #expect(try await !folders.isManaged(2))
    }
  }

  @Test("Values go when they are too old, although nothing happens", .endsSometime)
  func ageWithoutChanges() async throws {
    let folders = Silos(.memory)[Folder.self]
    folders.retention = .recent(age: .milliseconds(1500))
    try await folders.save((0..<3).map { Folder($0) })
    #expect(try await inTime { try await folders.count() == 0 })
  }
}
