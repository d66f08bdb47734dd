// What a caller decides about an id holds for its older versions, too, also for those that could
// not be migrated.

import DflatTestSupport
import Foundation
import Silo
import Testing

/// What becomes of the value 2, of which the older version cannot be migrated.
enum Decision: CaseIterable, Sendable {
  case save, remove, evict, delete, saveAndDelete, deleteAndMakeAgain, saveInItsStore
  case removeInItsStore

  /// Carries it out.
  /// - Returns: The number of value 2 from then on; nil if there is no such value.
  func carryOut<V: NumberedValue>(_ silo: Silo<V>, _ store: any ValueStore<V>) async throws -> Int? {
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

  private func decide<B: NumberedValue, M: NumberedValue>(
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
}
