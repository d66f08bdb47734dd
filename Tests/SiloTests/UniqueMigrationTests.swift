// Old values that break a unique property of the type that they are migrated to.

import DflatTestSupport
import Foundation
import Platform
import Silo
import Testing

/// How often the step ran, by the names of the values.
private let stepsRun = Mutex<[String: Int]>([:])

@Persistable(version: 2, table: "badges", shape: "id:I name:S")
private struct Badge: Identifiable, Hashable, Sendable {
  var id: Int
  @Unique var name: String

  static var migrations: Migrations<Badge> {
    Migrations {
      // It reads others, so that workspaces do all at the first use, too.
      Migrate(from: V1.self, to: Badge.self, reading: Tag.self) { old, _ in
        stepsRun.withLock { $0[old.name, default: 0] += 1 }
        return Badge(id: old.id, name: old.name)
      }
    }
  }
}

extension Badge {
  @EntityVersion(1, of: Badge.self, shape: "id:I name:S")
  struct V1: Identifiable, Hashable, Sendable {
    var id: Int
    var name: String
  }
}

@Suite("Migrations to types with unique properties")
struct UniqueMigrationTests {
  @Test(
    "Values that break a unique property are each tried once at the first use",
    arguments: VersionedPlace.all)
  func firstUse(place: VersionedPlace) async throws {
    let (name, count) = ("\(UUID())", 100)
    try await place.run { opener in
      try await opener.store(Badge.V1.self).save(
        (0..<count).map { Badge.V1(id: $0, name: name) } + [Badge.V1(id: count, name: "other")])
      let silos = Silos(opener.store(Badge.self))
      silos.errorHandler = { _ in }
      #expect(
        try await silos[Badge.self].values(orderBy: [Badge.id.ascending]).map(\.id) == [0, count])
      #expect(stepsRun.withLock { $0[name] } == count)
      #expect(try await silos[Badge.self].unmigrated.map(\.id) == Array(1..<count))
    }
  }
}
