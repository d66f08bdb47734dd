// Indexes of values in LMDB: what is found by them, and when their entries are made.

import Dflat
import DflatTestSupport
import Empire
@testable import EmpireSilo
import Foundation
import Silo
import Testing

@Persistable(
  version: 1, table: "measures",
  shape: "id:I place:S value:R? number:W64 code:I8 at:D tags:@{Tag}")
struct Measure: Identifiable, Hashable, Sendable {
  var id: Int
  @Indexed var place: String
  @Indexed var value: Double?
  @Indexed var number: UInt64
  @Indexed var code: Int8
  @Indexed var at: Date
  var tags: RelatedItems<Tag>

  init(_ id: Int, _ random: inout SeededGenerator) {
    self.id = id
    place = Measure.places.randomElement(using: &random)!
    value = [nil, -0.0, 0, 1.5, -1.5, 1e300, -.infinity].randomElement(using: &random)!
    number = [0, 1, 1 << 63, .max].randomElement(using: &random)!
    code = [-128, -1, 0, 1, 127].randomElement(using: &random)!
    at = Date(timeIntervalSince1970: Double(Int.random(in: -3...3, using: &random)))
    tags = []
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      tags.insert(.unresolved(id: Measure.places.randomElement(using: &random)!))
    }
  }

  static let places = ["", "a", "a\0", "aaaaaaaaa", "aaaaaaaab", "b", "é", "e\u{301}", "日本語日本語"]

  /// A condition on one property.
  static func test(_ random: inout SeededGenerator) -> Condition<Canonical<Measure>> {
    let other = Measure(Int.random(in: 0..<40, using: &random), &random)
    return switch Int.random(in: 0..<14, using: &random) {
    case 0: Measure.place == other.place
    case 1: Measure.place >= other.place
    case 2: Measure.place.hasPrefix(other.place)
    case 3: Measure.value == other.value
    case 4: other.value.map { Measure.value < $0 } ?? Measure.value.isNull
    case 5: Measure.number == other.number
    case 6: Measure.number <= other.number
    case 7: Measure.code > other.code
    case 8: Measure.at >= other.at
    case 9: Measure.at == other.at
    case 10: Measure.tags.contains(id: other.place)
    case 11: Measure.tags.containsAny(of: [other.place, "b", ""])
    case 12: Measure.id.in([other.id, 1, 77])
    default: Measure.place.in([other.place, "none"])
    }
  }
}

/// The same values, as a program declares them that has other indexes.
enum Elsewhere {
  @Persistable(
    version: 1, table: "measures",
    shape: "id:I place:S value:R? number:W64 code:I8 at:D tags:@{Tag}")
  struct Measure: Identifiable, Sendable {
    var id: Int
    var place: String
    var value: Double?
    var number: UInt64
    @Indexed var code: Int8
    var at: Date
    var tags: RelatedItems<Tag>
  }
}

@Suite("Indexes of values in LMDB")
struct EmpireIndexTests {
  @Test("What watches one value follows the records of its id only")
  func observedIDs() {
    func hashes<V>(_ condition: Condition<Canonical<V>>) -> ClosedRange<UInt64> {
      RowSearch(ValueQuery(where: condition)) { _ in false }.observedHashes
    }
    #expect(hashes(Tag.id == "a") == hash(of: "a")...hash(of: "a"))
    #expect(hashes(Tag.id.in(["b"])) == hash(of: "b")...hash(of: "b"))
    #expect(hashes(Measure.id.in([5])) == order(of: 5)...order(of: 5))
    #expect(hashes(Measure.id.in([9, -5])) == order(of: -5)...order(of: 9))
    #expect(hashes(Measure.id == 5 && Measure.place == "a") == order(of: 5)...order(of: 5))
    for all in [hashes(Measure.place == "a"), hashes(Measure.id == 5 || Measure.place == "a")] {
      #expect(all == 0...(.max))
    }
  }

  private func withStore(_ body: (Store) async throws -> Void) async throws {
    let directory = URL.temporaryDirectory.appending(path: "silo-\(UUID())")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(Store(database: try LockingDatabase(url: directory)))
  }

  private func damage(_ number: Int64, of table: String, in store: Store) throws {
    try store.withTransaction { context in
      for row in try StoredRow.select(in: context, table: table) where row.number == number {
        try context.insert(
          StoredRow(table: table, hash: row.hash, number: number, bytes: Data([1, 2, 3])))
      }
    }
  }

  @Test("Conditions find what they find in memory")
  func conditions() async throws {
    var random = SeededGenerator(seed: testSeed())
    try await withStore { store in
      let measures = Silos(EmpireValueStore<Measure>(store))[Measure.self]
      let model = Silos(.memory)[Measure.self]
      for _ in 0..<(isLongRun ? 2000 : 200) {
        let changed = (0..<4).map { _ in
          Measure(Int.random(in: 0..<40, using: &random), &random)
        }
        try await measures.save(changed)
        try await model.save(changed)
        let removed = Int.random(in: 0..<40, using: &random)
        #expect(try await measures.remove(removed) == model.remove(removed))
        for _ in 0..<5 {
          var condition = Measure.test(&random)
          for _ in 0..<Int.random(in: 0...2, using: &random) {
            let next = Measure.test(&random)
            condition = Bool.random(using: &random) ? condition && next : condition || next
          }
          let order = [Measure.id.ascending, Measure.id.descending].randomElement(using: &random)!
          let limit = Int.random(in: 0..<6, using: &random)
          #expect(
            try await measures.values(where: condition) == model.values(where: condition),
            "\(condition) with the seed \(random.seed)")
          #expect(
            try await measures.values(where: condition, orderBy: [order], limit: limit)
              == model.values(where: condition, orderBy: [order], limit: limit),
            "\(limit) of \(condition) with the seed \(random.seed)")
        }
      }
      // Nothing is left of values that were replaced or removed.
      let stored = try await model.values()
      let entries = try store.withTransaction { try $0.count(of: IndexedValue.self) }
      #expect(entries == stored.reduce(0) { $0 + ($1.value == nil ? 5 : 6) + $1.tags.count })
    }
  }

  @Test("The places of values are in their order")
  func places() throws {
    let values: [[Dflat.Value]] = [
      [.integer(.min), .integer(-1), .integer(0), .integer(1), .integer(.max)],
      [.unsigned(0), .unsigned(1), .unsigned(1 << 63), .unsigned(.max)],
      [
        .real(-.infinity), .real(-1.5), .real(-.leastNonzeroMagnitude), .real(0),
        .real(.leastNonzeroMagnitude), .real(1), .real(.infinity),
      ],
      ["", "a", "aa", "b", "日本語", "\u{10FFFF}"].map { .string($0) },
      [.bool(false), .bool(true)],
    ]
    for ordered in values {
      let places = try ordered.map { try #require(IndexPlace($0)).order }
      #expect(zip(places, places.dropFirst()).allSatisfy { $0 < $1 }, "\(ordered)")
    }
    #expect(IndexPlace(.real(-0.0)) == IndexPlace(.real(0)))
    #expect(IndexPlace(.real(.nan)) == nil)
    let (left, right) = (IndexPlace(.string("12345678a")), IndexPlace(.string("12345678b")))
    #expect(left?.order == right?.order && left != right)
  }

  @Test("Rows that an index excludes are not read")
  func reading() async throws {
    var random = SeededGenerator(seed: testSeed())
    try await withStore { store in
      let measures = Silos(EmpireValueStore<Measure>(store))[Measure.self]
      var other = Measure(2, &random)
      (other.place, other.code) = ("there", -1)
      var wanted = Measure(1, &random)
      (wanted.place, wanted.code) = ("here", 1)
      (wanted.tags, other.tags) = ([.unresolved(id: "a"), .unresolved(id: "b")], [])
      try await measures.save([wanted, other])
      try damage(2, of: "measures_v1", in: store)
      await #expect(throws: (any Error).self) { try await measures.values() }
      await #expect(throws: (any Error).self) {
        try await measures.values(where: Measure.place == "there")
      }
      #expect(try await measures.values(where: Measure.place == "here").map(\.id) == [1])
      #expect(try await measures.count(where: Measure.code > 0 && Measure.code < 9) == 1)
      #expect(try await measures.count(where: Measure.id == 1 || Measure.place == "here") == 1)
      #expect(try await measures.count(where: Measure.tags.contains(id: "b")) == 1)
      #expect(try await measures.count(where: Measure.tags.contains(id: "c")) == 0)
      // A unique value is looked up, too.
      let users = Silos(EmpireValueStore<User>(store))[User.self]
      try await users.save([
        User(id: 1, name: "Ada", email: "a"), User(id: 2, name: "Bob", email: "b"),
      ])
      try damage(1, of: "users_v1", in: store)
      try await users.save(User(id: 3, name: "Cy", email: "c"))
      await #expect(throws: StorageError.self) {
        try await users.save(User(id: 4, name: "Di", email: "b"))
      }
      try await users.save(User(id: 2, name: "Bob", email: "d"))
      try await users.save(User(id: 4, name: "Di", email: "b"))
    }
  }

  @Test("Entries that are missing are made by the next transaction")
  func older() async throws {
    var random = SeededGenerator(seed: testSeed())
    try await withStore { store in
      let measures = Silos(EmpireValueStore<Measure>(store))[Measure.self]
      let values = (0..<50).map { Measure($0, &random) }
      try await measures.save(values)
      // As an older version left it, and with an entry of a row that has gone.
      try store.withTransaction { context in
        try context.deleteAll(of: CompleteIndex.self)
        try context.deleteAll(of: IndexedValue.self)
        let lost = try #require(IndexPlace(.string("a")))
        try context.insert(
          IndexedValue(
            table: "measures_v1", index: "f6", order: lost.order, hash: lost.hash, number: 999,
            rowHash: 999))
      }
      let found = values.filter { $0.place == "a" }
      #expect(try await measures.values(where: Measure.place == "a") == found)
      try await measures.save(values[0])
      #expect(try await measures.values(where: Measure.place == "a") == found)
      let (complete, entries) = try store.withTransaction { context in
        (
          try context.count(of: CompleteIndex.self),
          try IndexedValue.select(in: context, table: "measures_v1", index: "f6").count
        )
      }
      #expect(complete == 7)
      #expect(entries == 50)
    }
  }

  @Test("What a program writes that has not these indexes is found")
  func otherIndexes() async throws {
    var random = SeededGenerator(seed: testSeed())
    try await withStore { store in
      let measures = Silos(EmpireValueStore<Measure>(store))[Measure.self]
      let others = Silos(EmpireValueStore<Elsewhere.Measure>(store))[Elsewhere.Measure.self]
      var value = Measure(1, &random)
      value.place = "here"
      try await measures.save(value)
      var other = try #require(try await others.load(1))
      other.place = "there"
      try await others.save(other)
      #expect(try await measures.values(where: Measure.place == "here").isEmpty)
      #expect(try await measures.values(where: Measure.place == "there").map(\.id) == [1])
      try await measures.save(Measure(2, &random))
      #expect(try await measures.values(where: Measure.place == "there").map(\.id) == [1])
      try await others.remove(1)
      #expect(try await measures.values(where: Measure.place == "there").isEmpty)
    }
  }
}
