// Indexes in LMDB: several declarations of one table, values that no declaration expects, and what
// is read of an index that finds too much.

import Dflat
import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
import MemoryDflat
@testable import Silo
import SQLiteDflat
import Testing

// The same values, as several programs declare them.

private enum Unmarked {
  @Persistable(version: 1, table: "plates", shape: "id:I name:S count:I=5")
  struct Plate: Identifiable, Sendable {
    var id: Int
    var name: String
    var count: Int = 5
  }
}

private enum ByName {
  @Persistable(version: 1, table: "plates", shape: "id:I name:S count:I=5")
  struct Plate: Identifiable, Sendable {
    var id: Int
    @Indexed var name: String
    var count: Int = 5
  }
}

private enum ByCount {
  @Persistable(version: 1, table: "plates", shape: "id:I name:S count:I=5")
  struct Plate: Identifiable, Sendable {
    var id: Int
    var name: String
    @Indexed var count: Int = 5
  }
}

private enum OtherDefault {
  @Persistable(version: 1, table: "plates", shape: "id:I name:S count:I=6")
  struct Plate: Identifiable, Sendable {
    var id: Int
    var name: String
    @Indexed var count: Int = 6
  }
}

private enum Unique {
  @Persistable(version: 1, table: "plates", shape: "id:I name:S count:I=5")
  struct Plate: Identifiable, Sendable {
    var id: Int
    @Unique var name: String
    var count: Int = 5
  }
}

private enum Earlier {
  @Persistable(version: 1, table: "crates", shape: "id:I name:S")
  struct Crate: Identifiable, Sendable {
    var id: Int
    @Indexed var name: String
  }
}

@Persistable(version: 2, table: "crates", shape: "id:I title:S")
private struct Crate: Identifiable, Sendable {
  var id: Int
  @Indexed var title: String

  @EntityVersion(1, of: Crate.self, shape: "id:I name:S")
  struct V1 {
    var id: Int
    var name: String
  }

  static var migrations: Migrations<Crate> {
    Migrations {
      Migrate(from: V1.self, to: Crate.self) { old in Crate(id: old.id, title: old.name) }
    }
  }
}

@Persistable(version: 1, table: "lamps", shape: "id:I place:I isOn:B")
private struct Lamp: Identifiable, Sendable {
  var id: Int
  @Indexed var place: Int
  @Indexed var isOn: Bool
}

extension ValueStore {
  fileprivate func values(
    where condition: Condition<Canonical<Value>>, orderBy order: [OrderBy<Canonical<Value>>] = [],
    limit: Int? = nil
  ) async throws -> [Value] {
    try await values(ValueQuery(where: condition, orderBy: order, limit: limit))
  }

  fileprivate func count(where condition: Condition<Canonical<Value>>) async throws -> Int {
    try await count(ValueQuery(where: condition))
  }
}

@Suite("Indexes in LMDB and several programs")
struct EmpireIndexProgramsTests {
  private func withStore(_ body: (Store) async throws -> Void) async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(Store(database: try LockingDatabase(url: directory)))
  }

  private func replaceBytes(
    of number: Int64, in table: String, _ store: Store, _ change: (Data) -> Data
  ) throws {
    try store.withTransaction { context in
      for row in try StoredRow.select(in: context, table: table) where row.number == number {
        try context.insert(
          StoredRow(table: table, hash: row.hash, number: number, bytes: change(row.bytes)))
      }
    }
  }

  @Test("An index whose property has another default elsewhere is another index")
  func defaults() async throws {
    func answers(
      _ five: some ValueStore<ByCount.Plate>, _ six: some ValueStore<OtherDefault.Plate>
    ) async throws -> [[Int]] {
      try await five.save([.init(id: 1, name: "a"), .init(id: 2, name: "b", count: 6)])
      let before = try await six.values(where: OtherDefault.Plate.count == 6).map(\.id)
      try await six.save(.init(id: 3, name: "c"))
      return [
        before, try await six.values(where: OtherDefault.Plate.count == 6).map(\.id),
        try await five.values(where: ByCount.Plate.count == 5).map(\.id),
      ]
    }
    let memory = MemoryWorkspace()
    let wanted = try await answers(MemoryValueStore(in: memory), MemoryValueStore(in: memory))
    try await withStore { store in
      let found = try await answers(EmpireValueStore(store), EmpireValueStore(store))
      #expect(found == wanted)
    }
  }

  @Test("Nothing is left of an index that a program does not have, or a version")
  func removal() async throws {
    func entries(_ table: String, in store: Store) throws -> Int {
      try store.withTransaction { try IndexedValue.select(in: $0, table: table).count }
    }
    try await withStore { store in
      try await EmpireValueStore<Earlier.Crate>(store).save(
        (0..<50).map { .init(id: $0, name: "\($0)") })
      // Of the property, and of the order of insertion.
      #expect(try entries("crates_v1", in: store) == 100)
      #expect(try await EmpireValueStore<Crate>(store).count(ValueQuery()) == 50)
      #expect(try entries("crates_v1", in: store) == 0)
      #expect(try entries("crates_v2", in: store) == 100)
      try await EmpireValueStore<ByName.Plate>(store).save(
        (0..<50).map { .init(id: $0, name: "\($0)") })
      try await EmpireValueStore<Unmarked.Plate>(store).remove(0..<50)
      #expect(try entries("plates_v1", in: store) == 0)
    }
  }

  @Test("Programs with different indexes write in turn")
  func turns() async throws {
    var random = SeededGenerator(seed: testSeed())
    try await withStore { store in
      let byName = EmpireValueStore<ByName.Plate>(store)
      let unmarked = EmpireValueStore<Unmarked.Plate>(store)
      let byCount = EmpireValueStore<ByCount.Plate>(store)
      var model: [Int: (name: String, count: Int)] = [:]
      for _ in 0..<(isLongRun ? 2000 : 150) {
        let id = Int.random(in: 0..<6, using: &random)
        let name = ["a", "b", "c"].randomElement(using: &random)!
        let count = Int.random(in: 4..<7, using: &random)
        let isRemoved = Int.random(in: 0..<3, using: &random) == 0
        switch Int.random(in: 0..<3, using: &random) {
        case 0 where isRemoved: try await byName.remove(id)
        case 0: try await byName.save(.init(id: id, name: name, count: count))
        case 1 where isRemoved: try await unmarked.remove(id)
        case 1: try await unmarked.save(.init(id: id, name: name, count: count))
        case _ where isRemoved: try await byCount.remove(id)
        default: try await byCount.save(.init(id: id, name: name, count: count))
        }
        model[id] = isRemoved ? nil : (name, count)
        let named = try await byName.values(where: ByName.Plate.name == name).map(\.id)
        #expect(
          named.sorted() == model.filter { $0.value.name == name }.map(\.key).sorted(),
          "with the seed \(random.seed)")
        let counted = try await byCount.values(where: ByCount.Plate.count > count).map(\.id)
        #expect(
          counted.sorted() == model.filter { $0.value.count > count }.map(\.key).sorted(),
          "with the seed \(random.seed)")
      }
    }
  }

  @Test("One transaction may change a table by two declarations")
  func twoDeclarations() async throws {
    try await withStore { store in
      let byName = EmpireValueStore<ByName.Plate>(store)
      try await byName.save(.init(id: 1, name: "a"))
      try await byName.domain.write([ByName.Plate.self, Unmarked.Plate.self]) { txn in
        try txn.save([ByName.Plate(id: 2, name: "b")])
        try txn.save([Unmarked.Plate(id: 1, name: "c")])
      }
      #expect(try await byName.values(where: ByName.Plate.name == "c").map(\.id) == [1])
      #expect(try await byName.values(where: ByName.Plate.name == "a").isEmpty)
    }
  }

  @Test("A unique value that was stored twice before stops only changes of it")
  func doubled() async throws {
    func run(
      _ unmarked: some ValueStore<Unmarked.Plate>, _ unique: some ValueStore<Unique.Plate>
    ) async throws {
      try await unmarked.save([.init(id: 1, name: "a"), .init(id: 2, name: "a")])
      try await unique.save(.init(id: 1, name: "a", count: 9))
      try await unique.save(.init(id: 2, name: "a", count: 9))
      await #expect(throws: StorageError.self) { try await unique.save(.init(id: 3, name: "a")) }
      try await unique.save(.init(id: 2, name: "b"))
      await #expect(throws: StorageError.self) { try await unique.save(.init(id: 2, name: "a")) }
    }
    let memory = MemoryWorkspace()
    try await run(MemoryValueStore(in: memory), MemoryValueStore(in: memory))
    try await withTemporaryWorkspace(.sqlite) { temporary in
      let workspace = temporary.workspace
      try await run(WorkspaceValueStore(workspace), WorkspaceValueStore(workspace))
      // Both are told once.
      _ = temporary.errors.takeAll()
    }
    try await withStore { store in
      try await run(EmpireValueStore(store), EmpireValueStore(store))
    }
  }

  @Test("A text that is no UTF-8 is found in its place")
  func otherBytes() async throws {
    try await withStore { store in
      let plates = EmpireValueStore<ByName.Plate>(store)
      try await plates.save(ByName.Plate(id: 1, name: "~~~~"))
      try replaceBytes(of: 1, in: "plates_v1", store) { bytes in
        var bytes = bytes
        while let place = bytes.firstRange(of: Data("~~".utf8)) {
          bytes.replaceSubrange(place, with: [0xFF, 0xFE])
        }
        return bytes
      }
      try store.withTransaction { context in
        try context.deleteAll(of: CompleteIndex.self)
        try context.deleteAll(of: IndexedValue.self)
      }
      let isGreat = ByName.Plate.name > "\u{10FFFF}"
      #expect(try await plates.count(where: isGreat) == 1)
      try await plates.save(ByName.Plate(id: 2, name: "x"))
      #expect(try await plates.count(where: isGreat) == 1)
    }
  }

  @Test("What narrows most is looked up, and an index that finds too much is not used")
  func choice() async throws {
    try await withStore { store in
      let lamps = EmpireValueStore<Lamp>(store)
      try await lamps.save((1...2000).map { Lamp(id: $0, place: $0, isOn: true) })
      try replaceBytes(of: 1000, in: "lamps_v1", store) { _ in Data([1, 2, 3]) }
      // These would meet the damaged row if they looked at all that are on.
      #expect(try await lamps.count(where: Lamp.isOn == true && Lamp.id == 1) == 1)
      #expect(try await lamps.count(where: Lamp.isOn == true && Lamp.id.in([1, 2])) == 2)
      #expect(try await lamps.count(where: Lamp.isOn == true && Lamp.place.in([1, 2])) == 2)
      let first = try await lamps.values(
        where: Lamp.isOn == true && Lamp.id > 5, orderBy: [Lamp.id.ascending], limit: 10)
      #expect(first.map(\.id) == Array(6...15))
      await #expect(throws: (any Error).self) { try await lamps.count(where: Lamp.isOn == true) }
      func found(_ condition: Condition<Canonical<Lamp>>, atMost most: Int) throws -> Int? {
        try store.withTransaction { context in
          var search = RowSearch<Lamp>(ValueQuery(where: condition)) { _ in true }
          return try search.places(in: context, atMost: most)?.count
        }
      }
      #expect(try found(Lamp.isOn == true, atMost: 1999) == nil)
      #expect(try found(Lamp.isOn == true, atMost: 2000) == 2000)
      #expect(try found(Lamp.place >= 1991 && Lamp.isOn == true, atMost: 100) == 10)
    }
  }
}
