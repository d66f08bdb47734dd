// Two releases of a program that share a store: the newer one has appended properties.
//
// Both read and write one table, in one process: the older release's type lacks what the newer
// one's has, as in the older program.

import DflatTestSupport
import Foundation
import MemoryDflat
import Platform
@testable import Silo
import Testing

@PersistableValue(shape: "street:S")
struct OldAddress: Hashable { var street: String }

@PersistableValue(shape: "street:S city:S? code:I=7")
struct NewAddress: Hashable {
  var street: String
  var city: String?
  var code = 7
}

@PersistableValue(shape: "nowhere:() at:(OldAddress)")
enum OldPlace: Hashable { case nowhere, at(OldAddress) }

@PersistableValue(shape: "nowhere:() at:(NewAddress)")
enum NewPlace: Hashable { case nowhere, at(NewAddress) }

@Persistable(
  version: 1, table: "visitors",
  shape: "id:I name:S= home:OldAddress place:OldPlace stops:[OldAddress] next:@OldVisitor?")
struct OldVisitor: Identifiable, Hashable {
  var id: Int
  var name = ""
  var home: OldAddress
  var place: OldPlace
  var stops: [OldAddress]
  @DeleteRule(.nullify) var next: RelatedItem<OldVisitor>?
}

extension OldVisitor {
  /// A visitor with the content that `NewVisitor(id)` has as far as this release knows.
  static func plain(_ id: Int) -> OldVisitor {
    let address = OldAddress(street: "street \(id)")
    return OldVisitor(
      id: id, home: address, place: .at(address),
      stops: [address, OldAddress(street: "second")])
  }
}

@Persistable(
  version: 1, table: "visitors",
  shape: """
    id:I name:S= home:NewAddress place:NewPlace stops:[NewAddress] next:@NewVisitor? note:S? \
    rank:I=3 words:[S]? work:NewAddress? date:D=Date(timeIntervalSince1970:0)
    """)
struct NewVisitor: Identifiable, Hashable {
  var id: Int
  var name = ""
  var home: NewAddress
  var place: NewPlace
  var stops: [NewAddress]
  @DeleteRule(.nullify) var next: RelatedItem<NewVisitor>?
  var note: String?
  @Indexed var rank = 3
  var words: [String]?
  var work: NewAddress?
  var date: Date = Date(timeIntervalSince1970: 0)

  /// A visitor with content in all properties that were appended.
  init(_ id: Int, next: Int? = nil) {
    self.id = id
    let address = NewAddress(street: "street \(id)", city: "city \(id)", code: id)
    home = address
    place = .at(address)
    stops = [address, NewAddress(street: "second")]
    self.next = next.map { RelatedItem(id: $0) }
    note = "note \(id)"
    rank = 10 + id
    words = ["word", "\(id)"]
    work = address
    date = Date(timeIntervalSince1970: Double(id))
  }
}

/// A way in which a program writes a stored value back.
enum WritingWay: String, CaseIterable, Sendable {
  case save, several, transaction, deep, store, nullify, recreate

  /// Has the older release write value 1, whose name is "changed" then. Value 2 is stored, too.
  func write(_ silos: Silos) async throws {
    let visitors = silos[OldVisitor.self]
    var value = try #require(try await visitors.load(1))
    value.name = "changed"
    let changed = value
    switch self {
    case .save: try await visitors.save(changed)
    case .several: try await visitors.save([changed, try #require(try await visitors.load(2))])
    case .transaction:
      try await silos.write { txn in
        var value = try #require(try txn[OldVisitor.self].load(1))
        value.name = "once"
        try txn[OldVisitor.self].save(value)
        try txn[OldVisitor.self].save(changed)
      }
    case .deep:
      var other = try #require(try await visitors.load(2))
      other.next = .resolved(changed)
      try await visitors.save(other, related: .deep)
    case .store: try await visitors.store.save(changed)
    case .nullify:
      try await visitors.save(changed)
      try await visitors.delete(2)
    case .recreate: try await visitors.save(changed, ifDeleted: .recreate)
    }
  }

  /// What the newer release then reads.
  var expected: [NewVisitor] {
    var values = [NewVisitor(1, next: 2), NewVisitor(2)]
    values[0].name = "changed"
    switch self {
    case .deep: values[1].next = RelatedItem(id: 1)
    case .nullify:
      values.remove(at: 1)
      values[0].next = nil
    default: break
    }
    return values
  }
}

@Suite("Two releases that share a store")
struct ReleaseTests {
  /// Runs `body` with silos of both releases over one store.
  private func withReleases(
    _ stores: TestStores, _ body: (_ old: Silos, _ new: Silo<NewVisitor>) async throws -> Void
  ) async throws {
    try await stores.withStores { maker in
      let new = Silos(maker.store(of: NewVisitor.self))[NewVisitor.self]
      try await new.save([NewVisitor(1, next: 2), NewVisitor(2)])
      try await body(Silos(maker.store(of: OldVisitor.self)), new)
    }
  }

  @Test(
    "What only the newer release knows stays when the older one writes a value",
    arguments: TestStores.all, WritingWay.allCases)
  func writing(stores: TestStores, way: WritingWay) async throws {
    try await withReleases(stores) { old, new in
      try await way.write(old)
      let stored = try await new.values(orderBy: [NewVisitor.id.ascending])
      #expect(stored.map(\.whole) == way.expected.map(\.whole))
      #expect(try await new.values(where: NewVisitor.rank == 11).map(\.id) == [1])
      #expect(try await new.values(where: NewVisitor.note == "note 1").map(\.id) == [1])
      // And again, over what the older release has written.
      try await old[OldVisitor.self].save(try #require(try await old[OldVisitor.self].load(1)))
      #expect(try await new.load(1)?.whole == way.expected[0].whole)
    }
  }

  @Test(
    "A nested value that the older release changes is replaced as a whole",
    arguments: TestStores.all)
  func nested(stores: TestStores) async throws {
    try await withReleases(stores) { old, new in
      let visitors = old[OldVisitor.self]
      var value = try #require(try await visitors.load(1))
      value.home.street = "changed"
      value.stops.append(OldAddress(street: "third"))
      try await visitors.save(value)
      var expected = NewVisitor(1, next: 2)
      expected.home = NewAddress(street: "changed")
      expected.stops = [
        NewAddress(street: "street 1"), NewAddress(street: "second"), NewAddress(street: "third"),
      ]
      #expect(try await new.load(1)?.whole == expected.whole)
    }
  }

  /// Each kind of store, and where values are moved from it: to its own kind, and to the next one.
  private static let moves =
    zip(TestStores.all, TestStores.all)
    .map { ($0, $1) } + zip(TestStores.all, TestStores.all.dropFirst() + TestStores.all.prefix(1))

  @Test(
    "A move by the older release takes along what only the newer one knows", arguments: moves)
  func moving(from: TestStores, to: TestStores) async throws {
    try await withReleases(from) { old, new in
      let visitors = old[OldVisitor.self]
      let first = visitors.store
      // One of the values was written by both.
      try await WritingWay.save.write(old)
      try await new.pin(2)
      try await to.withStores { maker in
        try await visitors.move(to: maker.store(of: OldVisitor.self))
        let moved = Silos(maker.store(of: NewVisitor.self))[NewVisitor.self]
        var expected = WritingWay.save.expected
        #expect(try await moved.values().map(\.whole) == expected.map(\.whole))
        #expect(try await moved.values(where: NewVisitor.rank == 12).map(\.id) == [2])
        #expect(try await moved.isManaged(2))
        // And back, with what the newer release has changed meanwhile.
        expected[1].note = "changed"
        try await moved.save(expected[1])
        try await visitors.move(to: first)
        #expect(try await new.values().map(\.whole) == expected.map(\.whole))
      }
    }
  }

  @Test(
    "Values that the newer release has changed where the older one has left them stay",
    arguments: TestStores.all)
  func changedMeanwhile(stores: TestStores) async throws {
    try await withReleases(stores) { old, new in
      let visitors = old[OldVisitor.self]
      let first = visitors.store
      try await visitors.move(to: MemoryValueStore<OldVisitor>())
      var changed = NewVisitor(2)
      changed.rank = 100
      try await new.save(changed)
      await #expect(throws: SiloError.storeIsNotEmpty("OldVisitor")) {
        try await visitors.move(to: first)
      }
      #expect(try await new.values().map(\.rank) == [11, 100])
    }
  }

  @Test("A store that cannot keep it is refused, and nothing is moved", arguments: TestStores.all)
  func refusal(stores: TestStores) async throws {
    try await withReleases(stores) { old, new in
      let visitors = old[OldVisitor.self]
      let memory = MemoryWorkspace()
      let target = WorkDomain(MemoryValueStore<OldVisitor>(in: memory).domain)
      await #expect(throws: SiloError.unknownProperties(type: "OldVisitor", id: "1")) {
        try await visitors.move(to: target.store(of: OldVisitor.self))
      }
      #expect(try await MemoryValueStore<OldVisitor>(in: memory).count(ValueQuery()) == 0)
      // The silo goes on where it was.
      try await WritingWay.save.write(old)
      #expect(try await new.values().map(\.whole) == WritingWay.save.expected.map(\.whole))
      // Nothing is lost of values that this release knows.
      try await new.remove([1, 2])
      try await visitors.save(.plain(5))
      try await visitors.move(to: target.store(of: OldVisitor.self))
      #expect(try await visitors.values() == [.plain(5)])
    }
  }
}

extension NewVisitor {
  /// All that is stored, to compare what `==` does not.
  fileprivate var whole: Data { Canonical(self).toData() }
}
