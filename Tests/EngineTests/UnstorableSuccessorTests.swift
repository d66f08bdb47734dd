// Migrations whose function makes objects that cannot be stored.

import Dflat
import DflatTestSupport
import Testing

@Suite("Successors that cannot be stored")
struct UnstorableSuccessorTests {
  /// Letter 5 becomes a slot whose key is NaN.
  private static func toSlots() -> Migration<V1.Letter, Kit.Slot> {
    Migration(from: V1.Letter.self, to: Kit.Slot.self) { old in
      Kit.Slot(
        row: UInt32(old.number), level: old.number == 5 ? .nan : 1, side: .left, isOpen: true,
        page: 0)
    }
  }

  /// Letter 5 becomes a shelf whose crates are nested too deeply.
  private static func toShelves() -> Migration<V1.Letter, Kit.Shelf> {
    @Sendable func crate(_ depth: Int) -> Kit.Crate {
      Kit.Crate(label: "\(depth)", inner: depth > 1 ? crate(depth - 1) : nil)
    }
    return Migration(from: V1.Letter.self, to: Kit.Shelf.self) { old in
      Kit.Shelf(number: old.number, crate: crate(old.number == 5 ? 70 : 2))
    }
  }

  /// The rows of the objects that stop a migration, and those that are left out.
  private func check<New: Atom>(
    _ migration: Migration<V1.Letter, New>, _ engine: TestEngine,
    numbers: (any Workspace) -> [Int32]
  ) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.storeFirst((1...10).map { V1.Letter(number: $0, text: "a") })
      await #expect {
        try await dflat.migrate(migration, step: 7)
      } throws: {
        guard let error = $0 as? MigrationError, case .unstorable = error.cause else {
          return false
        }
        return error.rowid == 5
      }
      #expect(numbers(dflat) == [1, 2, 3, 4, 6, 7, 8, 9, 10], "fetches leave it out")
      let old = workspace.firstLetters.map(\.number)
      #expect(old == Array(5...10), "those before it are migrated")
      await #expect(throws: MigrationError.self) {
        try await dflat.write(New.self) { try $0.query(New.self).count() }
      }
      // Observers get no part of them, and nothing is deleted.
      let results = Log<Int>()
      let deleted = Log<Bool>()
      let last = try #require(dflat.fetch(for: New.self).all().last)
      let subscriptions = [
        dflat.subscribe(dflat.query(New.self)) { results.add($0.count) },
        dflat.subscribe(object: last) { if case .deleted = $0 { deleted.add(true) } },
      ]
      await #expect(throws: MigrationError.self) {
        try await dflat.keySet(of: dflat.query(New.self))
      }
      #expect(results.events == [] && deleted.events == [])
      let leftOut = LeftOutObjects()
      try await dflat.migrate(migration.leavingOut(leftOut), step: 7)
      #expect(leftOut.errors.map(\.rowid) == [5])
      // They get all of them once, when the last one is migrated.
      let areRead = await inTime { !results.events.isEmpty }
      #expect(areRead && results.events == [9])
      await dflat.refresh()
      #expect(results.events.last == 9 && deleted.events == [])
      for subscription in subscriptions { subscription.cancel() }
      #expect(numbers(dflat) == [1, 2, 3, 4, 6, 7, 8, 9, 10])
      #expect(try await dflat.write(New.self) { try $0.query(New.self).count() } == 9)
      #expect(workspace.firstLetters.map(\.number) == [5])
      #expect(try workspace.faults(of: New._schema) == [])
      _ = workspace.errors.takeAll()
    }
  }

  @Test(
    "One whose key is NaN stops the migration behind the objects before it, or is left out",
    arguments: TestEngine.all)
  func unknownKey(engine: TestEngine) async throws {
    try await check(Self.toSlots(), engine) {
      $0.fetch(for: Kit.Slot.self).all().map { Int32($0.row) }.sorted()
    }
  }

  @Test("So does one that is nested too deeply", arguments: TestEngine.all)
  func tooDeep(engine: TestEngine) async throws {
    try await check(Self.toShelves(), engine) {
      $0.fetch(for: Kit.Shelf.self).all().map(\.number).sorted()
    }
  }

  @Test(
    "Of several successors, all are stored or none",
    arguments: TestEngine.all)
  func several(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      try workspace.storeFirst((1...3).map { V1.Letter(number: $0, text: "a") })
      let leftOut = LeftOutObjects()
      let migration = Migration.several(from: V1.Letter.self, to: Kit.Slot.self) { old in
        [1, old.number == 2 ? Double.nan : 2].map {
          Kit.Slot(row: UInt32(old.number), level: $0, side: .left, isOpen: true, page: 0)
        }
      }
      try await dflat.migrate(migration.leavingOut(leftOut))
      #expect(leftOut.errors.map(\.rowid) == [2])
      let slots = dflat.fetch(for: Kit.Slot.self).all()
      #expect(slots.map(\.row).sorted() == [1, 1, 3, 3])
      _ = workspace.errors.takeAll()
    }
  }
}
