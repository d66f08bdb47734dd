// Versions: migrations on values, and in workspaces.

import DflatTestSupport
import Foundation
import MemoryDflat
import PostgresTestSupport
@testable import Silo
import Testing

/// A second version 1 of letters.
@EntityVersion(1, of: Letter.self, shape: "id:I")
struct Twin: Identifiable { var id: Int }

@Suite("Versions")
struct VersionTests {
  @Test("Values go through all steps, without a database")
  func values() throws {
    let migrations = Letter.migrations
    #expect(
      try migrations.migrate(Letter.V1(id: 1, title: "a"))
        == Letter(id: 1, subject: "a", words: ["text", "of", "a"]))
    #expect(try migrations.migrate(Letter.V2(id: 2, title: "drop", text: "")) == nil)
    #expect(throws: Letter.Unreadable.self) {
      try migrations.migrate(Letter.V1(id: 1, title: "fail"))
    }
    let letter = Letter(id: 3, subject: "new", words: [])
    #expect(try migrations.migrate(letter) == letter)
  }

  @Test("check() finds gaps, forks, steps backwards, repetitions and other tables")
  func check() throws {
    try Letter.migrations.check()
    try User.migrations.check()
    let first = Migrate(from: Letter.V1.self, to: Letter.V2.self) { _ in nil }
    let second = Migrate(from: Letter.V2.self, to: Letter.self) { _ in nil }
    let direct = Migrate(from: Letter.V1.self, to: Letter.self) { _ in nil }
    func problem(_ migrations: Migrations<Letter>) -> ValueMigrationError? {
      do { try migrations.check() } catch { return error as? ValueMigrationError }
      return nil
    }
    func isGap(_ error: ValueMigrationError?) -> Bool {
      if case .gap? = error { true } else { false }
    }
    #expect(isGap(problem(Migrations { first })))
    guard case .missing(_, 2)? = problem(Migrations { direct }) else {
      Issue.record("a version without a type was not found")
      return
    }
    guard
      case .fork? = problem(
        Migrations {
          first; direct; second
        })
    else {
      Issue.record("a fork was not found")
      return
    }
    guard
      case .repeated? = problem(
        Migrations {
          first; first; second
        })
    else {
      Issue.record("a repetition was not found")
      return
    }
    let back = Migrate(from: Letter.self, to: Letter.V2.self) { _ in nil }
    guard
      case .backwards? = problem(
        Migrations {
          first; second; back
        })
    else {
      Issue.record("a step backwards was not found")
      return
    }
    let again = Migrate(from: Twin.self, to: Letter.V2.self) { _ in nil }
    guard
      case .sameNumber? = problem(
        Migrations {
          first; again; second
        })
    else {
      Issue.record("two versions of one number were not found")
      return
    }
    let circle = Migrations<Letter> {
      Migrate(from: Letter.V1.self, to: Letter.V2.self) {
        Letter.V2(id: $0.id, title: "", text: "")
      }
      Migrate(from: Letter.V2.self, to: Letter.V1.self) { Letter.V1(id: $0.id, title: "") }
    }
    do {
      _ = try circle.migrate(Letter.V1(id: 1, title: ""))
      Issue.record("steps in a circle ended")
    } catch ValueMigrationError.circle {}
    let other = Migrate(from: Parcel.V1.self, to: Letter.self) { _ in nil }
    guard case .otherTable? = problem(Migrations { other }) else {
      Issue.record("a step of another table was not found")
      return
    }
    #expect(throws: ValueMigrationError.self) {
      try Migrations<Letter> {
        Migrate(from: Letter.V1.self, to: Letter.V2.self) { old in
          Letter.V2(id: old.id, title: old.title, text: "")
        }
      }.migrate(Letter.V1(id: 1, title: ""))
    }
  }

  @Test(
    "Values of every retained version are there at the first use, each once",
    arguments: TestEngine.withServers(TestEngine.embedded))
  func whenUsed(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let old = Silos(in: temporary.workspace)
      try await old[Letter.V1.self].save((0..<1200).map { .init(id: $0, title: "\($0)") })
      try await old[Letter.V1.self].save(.init(id: 5000, title: "drop"))
      try await old[Letter.V2.self].save(
        (2000..<2010).map { .init(id: $0, title: "\($0)", text: "") })
      let letters = Silos(in: temporary.workspace)[Letter.self]
      #expect(try await letters.load(7)?.words == ["text", "of", "7"])
      #expect(
        try await letters.values(orderBy: [Letter.id.ascending]).map(\.id)
          == Array(0..<1200) + Array(2000..<2010))
      try await letters.save(Letter(id: 7, subject: "new", words: []))
      #expect(try await letters.load(7)?.subject == "new")
      try await letters.migrate()
      #expect(try await letters.count() == 1210)
    }
  }

  @Test(
    "A step may make several values of one", arguments: TestEngine.withServers(TestEngine.embedded))
  func several(engine: TestEngine) async throws {
    try Leg.migrations.check()
    let made = try Leg.migrations.migrateAll(Leg.V1(id: 1, lengths: [5, 6]))
    #expect(made.map(\.id) == ["1.0", "1.1"])
    #expect(try Leg.migrations.migrateAll(Leg.V1(id: 1, lengths: [])).isEmpty)
    try await withTemporaryWorkspace(engine) { temporary in
      try await Silos(in: temporary.workspace)[Leg.V1.self].save([
        .init(id: 1, lengths: [10, 20, 30]), .init(id: 2, lengths: []),
        .init(id: 3, lengths: [40]),
      ])
      let legs = Silos(in: temporary.workspace)[Leg.self]
      let long = try await legs.values(
        where: Leg.kilometres > 10, orderBy: [Leg.id.ascending])
      #expect(long.map(\.id) == ["1.1", "1.2", "3.0"])
      try await legs.migrate()
      #expect(try await legs.count() == 4)
    }
  }

  @Test(
    "If one of several values cannot be stored, none is, and the old one stays",
    arguments: TestEngine.withServers(TestEngine.embedded))
  func severalFailing(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let workspace = temporary.workspace
      try await Silos(in: workspace)[Leg.V1.self].save(.init(id: 1, lengths: [1, 2, 3]))
      let migration = Migration.several(
        from: Canonical<Leg.V1>.self, to: Canonical<Leg>.self
      ) { trip in
        try trip.value().lengths.map {
          Canonical(Leg(id: $0 == 3 ? "1" : "\($0)", kilometres: $0))
        }
      }
      await #expect(throws: MigrationError.self) { try await workspace.migrate(migration) }
      #expect(workspace.fetch(for: Canonical<Leg.V1>.self).all().count == 1)
      // What a fetch finds besides is converted by it, and not stored.
      let stored = workspace.fetch(for: Canonical<Leg>.self).all().filter { $0._rowid >= 0 }
      #expect(stored.isEmpty)
      _ = temporary.errors.takeAll()
    }
  }

  @Test(
    "A value that cannot be migrated stops its migration with a typed error",
    arguments: TestEngine.withServers(TestEngine.embedded))
  func failure(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let old = Silos(in: temporary.workspace)
      try await old[Letter.V2.self].save([
        .init(id: 1, title: "a", text: ""), .init(id: 2, title: "fail", text: ""),
      ])
      let letters = Silos(in: temporary.workspace)[Letter.self]
      await #expect(throws: ValueMigrationError.self) { try await letters.migrate() }
      _ = temporary.errors.takeAll()
    }
  }

  @Test(
    "An older program is refused with a typed error, and changes nothing",
    arguments: TestEngine.withServers(TestEngine.embedded))
  func downgrade(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      try await Silos(in: temporary.workspace)[Letter.self].save(
        Letter(id: 1, subject: "s", words: []))
      let old = Silos(in: temporary.workspace)
      let refusal = SiloError.newerVersion(table: "letters", stored: 3, known: 1)
      await #expect(throws: refusal) { try await old[Letter.V1.self].load(1) }
      await #expect(throws: refusal) {
        try await old[Letter.V1.self].save(.init(id: 2, title: ""))
      }
      #expect(try await Silos(in: temporary.workspace)[Letter.self].count() == 1)
    }
  }

  @Test(
    "Every call of an older program is refused, on every store", .endsSometime,
    arguments: VersionedPlace.all, [false, true])
  func everyCall(place: VersionedPlace, isCached: Bool) async throws {
    try await place.run { opener in
      func silo<V: Persistable>(_ type: V.Type) -> Silo<V> {
        let store = opener.store(type)
        func cached(_ store: some ValueStore<V>) -> any ValueStore<V> {
          CachedValueStore(of: store, limit: 4)
        }
        return Silos(isCached ? cached(store) : store)[type]
      }
      let newest = silo(Letter.self)
      try await newest.save(Letter(id: 1, subject: "s", words: []))
      try await refusals(of: silo(Letter.V1.self), id: 1) { .init(id: $0, title: "") }
      try await refusals(of: silo(Letter.V2.self), id: 1) { .init(id: $0, title: "", text: "") }
      #expect(try await newest.values().map(\.id) == [1])
    }
  }

  private func refusals<V: Persistable>(
    of old: Silo<V>, id: V.ID, _ value: (V.ID) -> V
  ) async throws {
    let refusal = SiloError.newerVersion(
      table: "letters", stored: 3, known: V._canonical.version)
    let one = value(id)
    let calls: [(String, () async throws -> Void)] = [
      ("load", { _ = try await old.load(id) }), ("values", { _ = try await old.values() }),
      ("count", { _ = try await old.count() }), ("save", { try await old.save(one) }),
      ("remove", { try await old.remove(id) }), ("delete", { try await old.delete(id) }),
      ("isDeleted", { _ = try await old.isDeleted(id) }),
      ("forgetDeletion", { try await old.forgetDeletion(id) }),
      ("evict", { try await old.evict(id) }), ("pin", { try await old.pin(id) }),
      ("unpin", { try await old.unpin(id) }), ("isManaged", { _ = try await old.isManaged(id) }),
      ("trim", { try await old.trim() }), ("migrate", { try await old.migrate() }),
      ("unmigrated", { _ = try await old.unmigrated }),
      ("retryUnmigrated", { _ = try await old.retryUnmigrated() }),
      ("unresolvedIDs", { _ = try await old.unresolvedIDs() }),
      ("resolve", { _ = try await old.silos.resolve(RelatedItem<V>(id: id)) }),
      ("live", { _ = try old.live(on: nil) }), ("liveCount", { _ = try old.liveCount(on: nil) }),
      ("live item", { _ = try old.live(id, on: nil) }),
      ("move", { try await old.move(to: MemoryValueStore<V>()) }),
      ("transaction", { try await old.silos.write { _ = try $0[V.self].load(id) } }),
    ]
    for (name, call) in calls {
      await #expect(throws: refusal, "\(name)") { try await call() }
    }
    old.retention = .recent(count: 5)
    await #expect(throws: refusal) { try await old.trim() }
    old.retention = .everything
  }
}
