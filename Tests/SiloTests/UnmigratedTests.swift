// What a caller decides about an id holds for its older versions, too, also for those that could
// not be migrated.

import DflatTestSupport
import Foundation
import MemoryDflat
@testable import Silo
import Testing

/// What becomes of the value 2, of which the older version cannot be migrated.
enum Decision: CaseIterable, Sendable {
  case save, remove, evict, delete, saveAndDelete, deleteAndMakeAgain, saveInItsStore
  case removeInItsStore

  /// Carries it out.
  /// - Returns: The number of value 2 from then on; nil if there is no such value.
  func carryOut<V: NumberedValue>(_ silo: Silo<V>, _ store: any ValueStore<V>) async throws -> Int?
  {
    switch self {
    case .save:
      try await silo.save(V(id: 2, number: 22))
      return 22
    case .remove:
      #expect(try await !silo.remove(2), "there was no such value")
      return nil
    case .evict:
      try await silo.evict(2)
      return nil
    case .delete:
      try await silo.delete(2)
      return nil
    case .saveAndDelete:
      try await silo.save(V(id: 2, number: 22))
      #expect(try await silo.delete(2))
      return nil
    case .deleteAndMakeAgain:
      try await silo.delete(2)
      try await silo.save(V(id: 2, number: 23), ifDeleted: .recreate)
      return 23
    case .saveInItsStore:
      try await store.save(V(id: 2, number: 24))
      return 24
    case .removeInItsStore:
      try await store.remove(2)
      return nil
    }
  }
}

extension VersionedPlace.Opener {
  /// A store, perhaps behind a cache that is too small.
  func store<V: Persistable>(_ type: V.Type, isCached: Bool) -> any ValueStore<V> {
    func cached(_ store: some ValueStore<V>) -> any ValueStore<V> {
      CachedValueStore(of: store, limit: 2)
    }
    return isCached ? cached(store(type)) : store(type)
  }
}

@Suite("Values that cannot be migrated")
struct UnmigratedTests {
  /// Checks that every question has the same answer, in whichever state the migration is.
  private func expect<V: NumberedValue>(
    _ expected: [Int: Int], _ silo: Silo<V>, _ comment: Comment
  ) async throws {
    let found = try await silo.values().map { [$0.id, $0.number] }.sorted { $0[0] < $1[0] }
    #expect(found == expected.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }, comment)
    #expect(try await silo.count() == expected.count, comment)
    let few = try await silo.values(where: V.number < 10)
    #expect(few.count == expected.values.count { $0 < 10 }, comment)
    for id in 0..<5 { #expect(try await silo.load(id)?.number == expected[id], comment) }
  }

  private func decide<B: OnceText, M: OnceText>(
    _ broken: B.Type, _ mended: M.Type, _ decision: Decision, isCached: Bool,
    _ opener: VersionedPlace.Opener
  ) async throws {
    let old = Silos(opener.store(B.First.self))[B.First.self]
    try await old.save([
      .init(id: 1, text: "1"), .init(id: 2, text: "two"), .init(id: 3, text: "3"),
    ])
    let store = opener.store(B.self, isCached: isCached)
    let silo = Silos(store)[B.self]
    try await expect([1: 1, 3: 3], silo, "before")
    var expected = [1: 1, 3: 3]
    expected[2] = try await decision.carryOut(silo, store)
    try await expect(expected, silo, "after it")
    try await silo.migrate()
    try await expect(expected, silo, "after it, migrated")
    for release in 1...2 {
      let next = Silos(opener.store(M.self, isCached: isCached))[M.self]
      try await expect(expected, next, "release \(release)")
      try await next.migrate()
      try await expect(expected, next, "release \(release), migrated")
    }
  }

  @Test(
    "What is decided about their ids stays decided", arguments: VersionedPlace.all,
    Decision.allCases)
  func decisions(place: VersionedPlace, decision: Decision) async throws {
    for isCached in [false, true] {
      try await place.run { opener in
        try await decide(
          Broken.Counter.self, Mended.Counter.self, decision, isCached: isCached, opener)
        try await decide(
          Broken.Price.self, Mended.Price.self, decision, isCached: isCached, opener)
      }
    }
  }

  @Test(
    "What is decided about ids that a step gives anew stays decided", arguments: VersionedPlace.all)
  func ownIDs(place: VersionedPlace) async throws {
    try await place.run { opener in
      // The trip 10 has a value of its own, which is none of the stops of the trip 10.
      try await Silos(opener.store(Broken.Stop.V1.self))[Broken.Stop.V1.self].save([
        .init(id: 10, lengths: [5, -1, 7, 8]), .init(id: 20, lengths: [1]),
      ])
      let stops = Silos(opener.store(Broken.Stop.self))[Broken.Stop.self]
      try await expect([20: 1], stops, "before")
      try await stops.save(.init(id: 10, number: 50))
      try await stops.save(.init(id: 12, number: 70))
      try await stops.delete(13)
      try await stops.remove(12)
      await #expect(throws: ValueMigrationError.self) { try await stops.migrate() }
      let entry = try #require(try await stops.unmigrated.first)
      #expect(entry.oldValue(as: Broken.Stop.V1.self)?.lengths == [5, -1, 7, 8])
      try await expect([10: 50, 20: 1], stops, "after it")
      for release in 1...2 {
        let next = Silos(opener.store(Mended.Stop.self))[Mended.Stop.self]
        try await expect([10: 50, 11: -1, 20: 1], next, "release \(release)")
        try await next.migrate()
        try await expect([10: 50, 11: -1, 20: 1], next, "release \(release), migrated")
        #expect(try await next.unmigrated.isEmpty)
      }
    }
  }

  @Test(
    "Steps of a chain fail by themselves, and what they fail for", arguments: VersionedPlace.all)
  func chain(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self]
      try await old.save([
        .init(id: 1, text: "two"), .init(id: 2, text: "zwei"), .init(id: 3, text: "3"),
      ])
      let later = Silos(opener.store(Broken.Counter.V2.self))[Broken.Counter.V2.self]
      // Saved by the release of the second version.
      try await later.save([
        .init(id: 3, text: "drei", note: ""), .init(id: 4, text: "4", note: ""),
        .init(id: 5, text: "drop", note: ""),
      ])
      let counters = Silos(opener.store(Broken.Counter.self))[Broken.Counter.self]
      try await expect([4: 4], counters, "before")
      let entries = try await counters.unmigrated
      #expect(entries.map(\.id) == [3, 1, 2] && entries.map(\.version.number) == [2, 1, 1])
      try await counters.save(.init(id: 1, number: 11))
      try await counters.save(.init(id: 5, number: 55))
      try await counters.delete(3)
      #expect(try await counters.unmigrated.map(\.id) == [2])
      let next = Silos(opener.store(Mended.Counter.self))[Mended.Counter.self]
      try await expect([1: 11, 2: -1, 4: 4, 5: 55], next, "mended")
      try await next.migrate()
      try await expect([1: 11, 2: -1, 4: 4, 5: 55], next, "migrated")
    }
  }

  @Test("They are listed, replaced, tried again and deleted", arguments: VersionedPlace.all)
  func list(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self]
      try await old.save((1...5).map { .init(id: $0, text: $0 == 4 ? "4" : "two") })
      let counters = Silos(opener.store(Broken.Counter.self))[Broken.Counter.self]
      let entries = try await counters.unmigrated
      #expect(entries.map(\.id) == [1, 2, 3, 5] && entries.allSatisfy { $0.version.number == 1 })
      #expect(entries.first?.oldValue as? Broken.Counter.V1 == .init(id: 1, text: "two"))
      for entry in entries {
        guard case .failed(let version, let id, let reason)? = entry.error as? ValueMigrationError
        else {
          Issue.record("another error: \(entry.error)")
          continue
        }
        #expect(version == entry.version && id == entry.id.map { "\($0)" })
        #expect(reason.contains("IllegibleText") && reason.contains("two"))
      }
      #expect(try await counters.replaceUnmigrated(entries[0], with: .init(id: 1, number: 11)))
      #expect(
        try await counters.replaceUnmigrated(
          entries[1], with: [.init(id: 2, number: 22), .init(id: 20, number: 200)]))
      #expect(try await counters.deleteUnmigrated(entries[2]))
      // What is no longer there is not replaced again.
      try await counters.save(.init(id: 2, number: 23))
      for entry in entries.prefix(3) {
        #expect(try await !counters.replaceUnmigrated(entry, with: .init(id: 2, number: 0)))
        #expect(try await !counters.deleteUnmigrated(entry))
      }
      #expect(try await counters.retryUnmigrated().map(\.id) == [5])
      try await expect([1: 11, 2: 23, 4: 4, 20: 200], counters, "replaced")
      await #expect(throws: ValueMigrationError.self) { try await counters.migrate() }
      let mended = Silos(opener.store(Mended.Counter.self))[Mended.Counter.self]
      #expect(try await mended.retryUnmigrated().isEmpty)
      try await expect([1: 11, 2: 23, 4: 4, 5: -1, 20: 200], mended, "mended")
      #expect(try await Silos(opener.store(Tag.self))[Tag.self].unmigrated.isEmpty)
    }
  }

  @Test(
    "All steps of a replacement are one transaction, and tombstones hold",
    arguments: VersionedPlace.all)
  func refusedReplacement(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self]
      try await old.save([.init(id: 1, text: "two"), .init(id: 2, text: "two")])
      let counters = Silos(opener.store(Broken.Counter.self))[Broken.Counter.self]
      let entries = try await counters.unmigrated
      try await counters.delete(7)
      await #expect(throws: SiloError.self) {
        try await counters.replaceUnmigrated(entries[0], with: .init(id: 7, number: 1))
      }
      #expect(try await counters.unmigrated.map(\.id) == [1, 2])
      struct Refusal: Error {}
      await #expect(throws: Refusal.self) {
        try await counters.silos.write { txn in
          #expect(try txn[Broken.Counter.self].unmigrated.count == 2)
          try txn[Broken.Counter.self].save(.init(id: 1, number: 1))
          #expect(try txn[Broken.Counter.self].unmigrated.map(\.id) == [2])
          throw Refusal()
        }
      }
      #expect(try await counters.unmigrated.map(\.id) == [1, 2])
      try await expect([:], counters, "nothing was changed")
    }
  }

  @Test("Each failure reaches the silos' error handler, once", arguments: VersionedPlace.all)
  func reports(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await reports(Broken.Counter.self, opener)
      try await reports(Broken.Price.self, opener)
    }
  }

  private func reports<B: OnceText>(
    _ broken: B.Type, _ opener: VersionedPlace.Opener
  ) async throws {
    let old = Silos(opener.store(B.First.self))[B.First.self]
    try await old.save((0..<1500).map { .init(id: $0, text: $0 % 29 == 0 ? "two" : "\($0)") })
    let silos = Silos(opener.store(B.self))
    let errors = ReportedErrors()
    let others = ReportedErrors()
    silos.errorHandler = { errors.add($0) }
    opener.workspace?.errorHandler = { others.add($0) }
    #expect(try await silos[B.self].count() == 1448)
    await #expect(throws: ValueMigrationError.self) { try await silos[B.self].migrate() }
    #expect(try await silos[B.self].unmigrated.count == 52)
    #expect(try await silos[B.self].values().count == 1448)
    let failed = errors.takeAll().compactMap { error -> String? in
      if case .failed(_, let id, _)? = error as? ValueMigrationError { id } else { nil }
    }
    #expect(failed.count == 52 && Set(failed).count == 52)
    #expect(others.takeAll().isEmpty)
  }

  @Test("A pin keeps an older value from being evicted", arguments: VersionedPlace.all)
  func pins(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self]
      try await old.save([.init(id: 1, text: "two"), .init(id: 2, text: "two")])
      let silos = Silos(opener.store(Broken.Counter.self))
      let counters = silos[Broken.Counter.self]
      try await counters.pin(1)
      try await silos.write { txn in
        try txn[Broken.Counter.self].keepUntilUploaded(2)
        try txn.enqueue(Sent())
      }
      for id in 1...2 {
        await #expect(throws: SiloError.self) { try await counters.evict(id) }
      }
      #expect(try await counters.unmigrated.map(\.id) == [1, 2])
      counters.retention = .recent(count: 0)
      try await counters.trim()
      let next = Silos(opener.store(Mended.Counter.self))[Mended.Counter.self]
      try await expect([1: -1, 2: -1], next, "mended")
      #expect(try await next.isManaged(1))
    }
  }

  @Test("Deep saving decides about related values, too", arguments: VersionedPlace.all)
  func deepSaving(place: VersionedPlace) async throws {
    try await place.run { opener in
      let old = Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self]
      try await old.save([.init(id: 1, text: "1"), .init(id: 2, text: "two")])
      let silos = Silos(opener.store(Broken.Counter.self), opener.store(CounterUse.self))
      let counter = Broken.Counter(id: 2, number: 22)
      try await silos[CounterUse.self].save(
        CounterUse(id: 1, counter: .resolved(counter)), related: .deep)
      try await expect([1: 1, 2: 22], silos[Broken.Counter.self], "saved")
      let next = Silos(opener.store(Mended.Counter.self))[Mended.Counter.self]
      try await expect([1: 1, 2: 22], next, "mended")
    }
  }

  @Test("A moved silo takes them along", arguments: VersionedPlace.all)
  func moving(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self].save([
        .init(id: 1, text: "1"), .init(id: 2, text: "two"), .init(id: 3, text: "two"),
      ])
      try await Silos(opener.store(Broken.Stop.V1.self))[Broken.Stop.V1.self].save(
        .init(id: 10, lengths: [5, -1, 7, 8]))
      let silos = Silos(opener.store(Broken.Counter.self), opener.store(Broken.Stop.self))
      let (counters, stops) = (silos[Broken.Counter.self], silos[Broken.Stop.self])
      try await stops.save(.init(id: 10, number: 50))
      try await stops.delete(12)
      let memory = MemoryWorkspace()
      try await counters.move(to: MemoryValueStore<Broken.Counter>(in: memory))
      try await stops.move(to: MemoryValueStore<Broken.Stop>(in: memory))
      #expect(try await counters.unmigrated.map(\.id) == [2, 3])
      #expect(try await stops.unmigrated.map(\.id) == [10])
      try await counters.save(.init(id: 2, number: 22))
      #expect(try await counters.unmigrated.map(\.id) == [3])
      let next = Silos(
        MemoryValueStore<Mended.Counter>(in: memory), MemoryValueStore<Mended.Stop>(in: memory))
      try await expect([1: 1, 2: 22, 3: -1], next[Mended.Counter.self], "mended")
      try await expect([10: 50, 11: -1, 13: 8], next[Mended.Stop.self], "mended")
    }
  }

  @Test("A silo that moves back brings what is left of them", arguments: VersionedPlace.all)
  func movingBack(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await Silos(opener.store(Broken.Counter.V1.self))[Broken.Counter.V1.self].save([
        .init(id: 1, text: "1"), .init(id: 2, text: "two"), .init(id: 3, text: "two"),
      ])
      let store = opener.store(Broken.Counter.self)
      let counters = Silos(store)[Broken.Counter.self]
      #expect(try await counters.unmigrated.map(\.id) == [2, 3])
      try await counters.move(to: MemoryValueStore<Broken.Counter>(in: MemoryWorkspace()))
      try await counters.save(.init(id: 2, number: 22))
      func moveBack(to store: some ValueStore<Broken.Counter>) async throws {
        try await counters.move(to: store)
      }
      try await moveBack(to: store)
      #expect(try await counters.unmigrated.map(\.id) == [3])
      try await expect([1: 1, 2: 22], counters, "moved back")
    }
  }

  @Test(
    "Values that come of two old ones under one id are refused, in all stores alike",
    arguments: VersionedPlace.all)
  func collision(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await Silos(opener.store(Broken.Stop.V1.self))[Broken.Stop.V1.self].save([
        .init(id: 1, lengths: [5, 6]), .init(id: 2, lengths: [7]), .init(id: 4, lengths: [9]),
      ])
      let stops = Silos(opener.store(Broken.Stop.self))[Broken.Stop.self]
      #expect(try await stops.unmigrated.map(\.id) == [2])
      try await expect([1: 5, 2: 6, 4: 9], stops, "the first one holds")
      await #expect(throws: ValueMigrationError.self) { try await stops.migrate() }
      try await stops.save(.init(id: 2, number: 60))
      // Nothing is left of the trip.
      try await stops.migrate()
      #expect(try await stops.unmigrated.isEmpty)
      try await expect([1: 5, 2: 60, 4: 9], stops, "after it")
    }
  }

  @Test("They stay if what would replace them is refused", arguments: VersionedPlace.all)
  func replacementOfDeleted(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await Silos(opener.store(Broken.Stop.V1.self))[Broken.Stop.V1.self].save([
        .init(id: 10, lengths: [-1])
      ])
      let silos = Silos(opener.store(Broken.Stop.self))
      let stops = silos[Broken.Stop.self]
      try await stops.save(.init(id: 3, number: 3))
      try await stops.delete(3)
      let entry = try #require(try await stops.unmigrated.first)
      let refusal = SiloError.deleted(type: "Stop", id: "3")
      try await silos.write { txn in
        #expect(throws: refusal) {
          try txn[Broken.Stop.self].replaceUnmigrated(
            entry, with: [.init(id: 4, number: 4), .init(id: 3, number: 4)])
        }
      }
      #expect(try await stops.unmigrated.map(\.id) == [10])
      #expect(try await stops.count() == 0)
      // If it is no longer there, nothing is refused.
      #expect(try await stops.deleteUnmigrated(entry))
      #expect(try await !stops.replaceUnmigrated(entry, with: .init(id: 3, number: 4)))
    }
  }

  @Test("The rules of their relations hold", arguments: VersionedPlace.all)
  func rules(place: VersionedPlace) async throws {
    try await place.run { opener in
      func item(_ id: Int) -> RelatedItem<Folder> { RelatedItem(id: id) }
      try await Silos(opener.store(Broken.Leaf.V1.self))[Broken.Leaf.V1.self].save([
        .init(id: 1, text: "two", folder: item(1)), .init(id: 2, text: "two", of: item(2)),
        .init(id: 3, text: "two", held: item(3)), .init(id: 4, text: "4", folder: item(4)),
        .init(id: 5, text: "two", folder: item(5), of: item(2), held: item(6)),
      ])
      let silos = Silos(opener.store(Broken.Leaf.self), opener.store(Folder.self))
      let (leaves, folders) = (silos[Broken.Leaf.self], silos[Folder.self])
      try await folders.save((1...6).map { Folder($0) })
      #expect(try await leaves.unmigrated.map(\.id) == [1, 2, 3, 5])
      try await leaves.pin(3)
      await #expect(throws: SiloError.managed(type: "Folder", id: "3")) {
        try await folders.evict(3)
      }
      #expect(
        await #expect(throws: SiloError.self) { try await folders.delete(3) }
          == .deletionDenied(type: "Folder", by: "Leaf", id: "3", property: "held"))
      #expect(try await folders.delete(1))
      #expect(try await folders.delete(2))
      #expect(try await folders.delete(4))
      #expect(try await leaves.unmigrated.map(\.id) == [2, 3, 5])
      for id in [1, 4] { #expect(try await leaves.isDeleted(id)) }
      #expect(try await leaves.count() == 0)
      // What is deleted itself denies nothing.
      try await silos.write { txn in
        try txn[Broken.Leaf.self].delete(5)
        try txn[Folder.self].delete(6)
      }
      let next = Silos(opener.store(Mended.Leaf.self), opener.store(Folder.self))
      let mended = try await next[Mended.Leaf.self].values(orderBy: [Mended.Leaf.id.ascending])
      #expect(mended.map(\.id) == [2, 3])
      #expect(mended.first?.of == nil && mended.last?.held?.id == 3)
    }
  }
}
