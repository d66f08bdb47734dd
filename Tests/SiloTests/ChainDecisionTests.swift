// Decisions about ids of the versions in the middle of a chain, each of whose steps gives its
// values other ids.

import DflatTestSupport
import Foundation
@testable import Silo
import Testing

/// The release of the second version, whose step is mistaken.
enum Second {
  @Persistable(version: 2, table: "hops", shape: "id:I number:I")
  struct Hop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }
}

extension Second.Hop: NumberedValue {
  @EntityVersion(1, of: Second.Hop.self, shape: "id:I text:S")
  struct V1: Hashable {
    var id: Int
    var text: String
  }

  static var migrations: Migrations<Second.Hop> {
    Migrations {
      Migrate(from: V1.self, to: Second.Hop.self, keepsIDs: false) { old in
        guard let number = Int(old.text) else { throw IllegibleText(text: old.text) }
        return Second.Hop(id: old.id + 10, number: number)
      }
    }
  }
}

/// Releases of the third version. The first of them leaves the mistake.
protocol ThirdRelease: NumberedValue {}

enum Third {
  @Persistable(version: 3, table: "hops", shape: "id:I number:I")
  struct Hop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }
}

extension Third.Hop: ThirdRelease {
  @EntityVersion(1, of: Third.Hop.self, shape: "id:I text:S")
  struct V1: Hashable {
    var id: Int
    var text: String
  }

  @EntityVersion(2, of: Third.Hop.self, shape: "id:I number:I")
  struct V2: Hashable {
    var id: Int
    var number: Int
  }

  static var migrations: Migrations<Third.Hop> {
    Migrations {
      Migrate(from: V1.self, to: V2.self, keepsIDs: false) { old in
        guard let number = Int(old.text) else { throw IllegibleText(text: old.text) }
        return V2(id: old.id + 10, number: number)
      }
      Migrate(from: V2.self, to: Third.Hop.self, keepsIDs: false) { old in
        Third.Hop(id: old.id - 10, number: old.number)
      }
    }
  }
}

enum MendedThird {
  @Persistable(version: 3, table: "hops", shape: "id:I number:I")
  struct Hop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }
}

extension MendedThird.Hop: ThirdRelease {
  @EntityVersion(1, of: MendedThird.Hop.self, shape: "id:I text:S")
  struct V1: Hashable {
    var id: Int
    var text: String
  }

  @EntityVersion(2, of: MendedThird.Hop.self, shape: "id:I number:I")
  struct V2: Hashable {
    var id: Int
    var number: Int
  }

  static var migrations: Migrations<MendedThird.Hop> {
    Migrations {
      Migrate(from: V1.self, to: V2.self, keepsIDs: false) {
        V2(id: $0.id + 10, number: Int($0.text) ?? -1)
      }
      Migrate(from: V2.self, to: MendedThird.Hop.self, keepsIDs: false) {
        MendedThird.Hop(id: $0.id - 10, number: $0.number)
      }
    }
  }
}

/// The same with steps that read other values, which run in transactions.
enum Reading {
  @Persistable(version: 3, table: "hops", shape: "id:I number:I")
  struct Hop: Identifiable, Hashable, Sendable {
    var id: Int
    var number: Int
  }
}

extension Reading.Hop: ThirdRelease {
  @EntityVersion(1, of: Reading.Hop.self, shape: "id:I text:S")
  struct V1: Hashable {
    var id: Int
    var text: String
  }

  @EntityVersion(2, of: Reading.Hop.self, shape: "id:I number:I")
  struct V2: Hashable {
    var id: Int
    var number: Int
  }

  static var migrations: Migrations<Reading.Hop> {
    Migrations {
      Migrate(from: V1.self, to: V2.self, keepsIDs: false, reading: Tag.self) { old, others in
        _ = try others.load(Tag.self, "any")
        return V2(id: old.id + 10, number: Int(old.text) ?? -1)
      }
      Migrate(from: V2.self, to: Reading.Hop.self, keepsIDs: false) {
        Reading.Hop(id: $0.id - 10, number: $0.number)
      }
    }
  }
}

@Suite("Decisions in the middle of a chain")
struct ChainDecisionTests {
  private func expect<V: NumberedValue>(
    _ expected: [Int: Int], _ type: V.Type, _ opener: VersionedPlace.Opener, _ comment: Comment
  ) async throws {
    let silo = Silos(opener.store(type))[type]
    silo.silos.errorHandler = { _ in }
    let found = try await silo.values().map { [$0.id, $0.number] }.sorted { $0[0] < $1[0] }
    #expect(found == expected.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }, comment)
    #expect(try await silo.count() == expected.count, comment)
  }

  /// Stores values of the first version, and decides about three of them in the second release.
  private func decideInSecondRelease(_ opener: VersionedPlace.Opener) async throws {
    try await Silos(opener.store(Second.Hop.V1.self))[Second.Hop.V1.self].save(
      ["1", "two", "three", "four", "five"].enumerated().map { .init(id: $0 + 1, text: $1) })
    let hops = Silos(opener.store(Second.Hop.self))[Second.Hop.self]
    hops.silos.errorHandler = { _ in }
    #expect(try await hops.values().map(\.id) == [11])
    try await hops.save(.init(id: 12, number: 22))
    try await hops.delete(13)
    try await hops.remove(14)
  }

  private func followsDecisions<V: ThirdRelease>(
    _ type: V.Type, _ place: VersionedPlace
  ) async throws {
    try await place.run { opener in
      try await decideInSecondRelease(opener)
      // 2 is what was saved, and not what the older value has become; 3 and 4 do not come back.
      try await expect([1: 1, 2: 22, 5: -1], type, opener, "pending")
      let silo = Silos(opener.store(type))[type]
      try await silo.migrate()
      try await expect([1: 1, 2: 22, 5: -1], type, opener, "migrated")
      #expect(try await silo.unmigrated.isEmpty)
    }
  }

  @Test(
    "What an earlier release has decided holds when its ids mean other values",
    arguments: VersionedPlace.all)
  func middle(place: VersionedPlace) async throws {
    try await followsDecisions(MendedThird.Hop.self, place)
    try await followsDecisions(Reading.Hop.self, place)
  }

  @Test(
    "A later decision about the same id leaves the earlier one, which means another value",
    arguments: VersionedPlace.all)
  func sameID(place: VersionedPlace) async throws {
    try await place.run { opener in
      try await decideInSecondRelease(opener)
      let hops = Silos(opener.store(Third.Hop.self))[Third.Hop.self]
      hops.silos.errorHandler = { _ in }
      try await expect([1: 1, 2: 22], Third.Hop.self, opener, "third release")
      // None of these is what the second release has decided about.
      try await hops.save((12...14).map { .init(id: $0, number: $0) }, ifDeleted: .recreate)
      try await hops.remove(5)
      try await hops.save((12...14).map { .init(id: $0, number: $0 * 2) })
      let expected = [1: 1, 2: 22, 12: 24, 13: 26, 14: 28]
      try await expect(expected, MendedThird.Hop.self, opener, "pending")
      try await Silos(opener.store(MendedThird.Hop.self))[MendedThird.Hop.self].migrate()
      try await expect(expected, MendedThird.Hop.self, opener, "migrated")
    }
  }
}
