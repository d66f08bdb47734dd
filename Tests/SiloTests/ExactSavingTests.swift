// What is saved over a stored value comes back bit by bit: nil is not empty, and 0.0 is not -0.0.

import DflatTestSupport
import Foundation
import MemoryDflat
@testable import Silo
import Testing

@PersistableValue(shape: "list:[I]? data:X? ratio:R real:R32? words:{S}?")
struct SparsePart: Hashable {
  var list: [Int]?
  var data: Data?
  var ratio: Double
  var real: Float?
  var words: Set<String>?
}

@PersistableValue(shape: "nothing:() list:([I]?) part:(SparsePart,R)")
enum SparseForm: Hashable {
  case nothing
  case list([Int]?)
  case part(SparsePart, Double)
}

@Persistable(
  version: 1, table: "sparse",
  shape: """
    id:I list:[I]? texts:[S]? words:{S}? counts:[S:I]? data:X? bytes:X part:SparsePart \
    maybePart:SparsePart? parts:[SparsePart]? lists:[[I]?] byName:[S:[I]?] partsByName:[S:SparsePart] \
    form:SparseForm zero:R=0.0 negative:R=-0.0 maybeZero:R? real:R32 indexed:R zeros:[R] date:D
    """)
struct Sparse: Identifiable, Hashable, Sendable {
  var id: Int
  var list: [Int]?
  var texts: [String]?
  var words: Set<String>?
  var counts: [String: Int]?
  var data: Data?
  var bytes: Data
  var part: SparsePart
  var maybePart: SparsePart?
  var parts: [SparsePart]?
  var lists: [[Int]?]
  var byName: [String: [Int]?]
  var partsByName: [String: SparsePart]
  var form: SparseForm
  var zero = 0.0
  var negative = -0.0
  var maybeZero: Double?
  var real: Float
  @Indexed var indexed: Double
  var zeros: [Double]
  var date: Date

  /// Two values are the same if these bytes are, also where Swift compares different ones as equal.
  var stored: Data { Canonical(self).toData() }
}

extension Sparse {
  static func random(_ id: Int, using random: inout SeededGenerator) -> Sparse {
    Sparse(
      id: id, list: Everything.maybe(&random, few), texts: Everything.maybe(&random) { texts(&$0) },
      words: Everything.maybe(&random) { Set(texts(&$0)) },
      counts: Everything.maybe(&random) { Dictionary(texts(&$0).map { ($0, 0) }) { $1 } },
      data: Everything.maybe(&random, bytes), bytes: bytes(&random), part: part(&random),
      maybePart: Everything.maybe(&random, part),
      parts: Everything.maybe(&random) { [part(&$0)].dropLast(Int.random(in: 0...1, using: &$0)) },
      lists: [Everything.maybe(&random, few)], byName: ["a": Everything.maybe(&random, few)],
      partsByName: ["a": part(&random)], form: form(&random), zero: zero(&random),
      negative: zero(&random), maybeZero: Everything.maybe(&random, zero),
      real: Float(zero(&random)), indexed: zero(&random), zeros: [zero(&random)],
      date: Date(timeIntervalSinceReferenceDate: zero(&random)))
  }

  /// A value that differs in few properties, as most updates do.
  mutating func change(using random: inout SeededGenerator) {
    let other = Sparse.random(id, using: &random)
    func take<T>(_ path: WritableKeyPath<Sparse, T>) { self[keyPath: path] = other[keyPath: path] }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: take(\.list)
    case 1: take(\.words)
    case 2: take(\.counts)
    case 3: take(\.data)
    case 4: take(\.part)
    case 5: take(\.parts)
    case 6: take(\.byName)
    case 7: take(\.form)
    case 8: take(\.zero)
    case 9: take(\.zeros)
    case 10: take(\.indexed)
    default: self = other
    }
  }

  private static func few(_ random: inout SeededGenerator) -> [Int] {
    Everything.pick([[], [1], [1, 2]], &random)
  }

  private static func texts(_ random: inout SeededGenerator) -> [String] {
    Everything.pick([[], [""], ["a", "b"]], &random)
  }

  private static func bytes(_ random: inout SeededGenerator) -> Data {
    Everything.pick([Data(), Data([0]), Data([1, 2])], &random)
  }

  private static func zero(_ random: inout SeededGenerator) -> Double {
    Everything.pick([0.0, -0.0, 0.0, -0.0, 1], &random)
  }

  private static func part(_ random: inout SeededGenerator) -> SparsePart {
    SparsePart(
      list: Everything.maybe(&random, few), data: Everything.maybe(&random, bytes),
      ratio: zero(&random), real: Everything.maybe(&random) { Float(zero(&$0)) },
      words: Everything.maybe(&random) { Set(texts(&$0)) })
  }

  private static func form(_ random: inout SeededGenerator) -> SparseForm {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .nothing
    case 1: .list(Everything.maybe(&random, few))
    default: .part(part(&random), zero(&random))
    }
  }
}

@Suite("Saving over a stored value")
struct ExactSavingTests {
  @Test("Every update comes back bit by bit", arguments: TestStores.all)
  func model(stores: TestStores) async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    try await stores.withSilos { silos in
      let silo = silos[Sparse.self]
      var model: [Int: Sparse] = [:]
      for _ in 0..<(isLongRun ? 3000 : 150) {
        let id = Int.random(in: 0..<3, using: &random)
        if Int.random(in: 0..<10, using: &random) == 0 {
          try await silo.remove(id)
          model[id] = nil
        } else {
          var value = model[id] ?? .random(id, using: &random)
          value.change(using: &random)
          try await silo.save(value)
          model[id] = value
        }
        let loaded = try await silo.load(id)
        #expect(loaded?.stored == model[id]?.stored, "DFLAT_SEED=\(seed)")
        if loaded?.stored != model[id]?.stored { break }
      }
      let all = try await silo.values(orderBy: [Sparse.id.ascending])
      #expect(all.map(\.stored) == model.sorted { $0.key < $1.key }.map(\.value.stored))
    }
  }

  @Test(
    "Nil, empty and full collections replace each other, and observers see it", .endsSometime,
    arguments: TestStores.all)
  func optionalCollections(stores: TestStores) async throws {
    var random = SeededGenerator(seed: 1)
    var value = Sparse.random(1, using: &random)
    (value.list, value.data) = ([1, 2], Data([1]))
    let start = value
    try await stores.withSilos { silos in
      let silo = silos[Sparse.self]
      try await silo.save(start)
      var changes = silo.changes().makeAsyncIterator()
      let states: [([Int]?, Data?)] = [
        ([], Data()), (nil, nil), ([], Data()), ([3], Data([3])), (nil, Data()), ([], nil),
      ]
      for (list, data) in states {
        var value = start
        (value.list, value.data) = (list, data)
        try await silo.save(value)
        let loaded = try #require(try await silo.load(1))
        try #require(loaded.list == list && loaded.data == data)
        let seen = try #require(await changes.next()?.updates.first?.value)
        #expect(seen.list == list && seen.data == data)
      }
    }
  }

  @Test("A move takes both zeros, nil and empty along", arguments: TestStores.all)
  func moving(stores: TestStores) async throws {
    var random = SeededGenerator(seed: 2)
    let values = (0..<40).map { Sparse.random($0, using: &random) }
    try await stores.withSilos { silos in
      try await silos[Sparse.self].save(values)
      try await silos[Sparse.self].move(to: MemoryValueStore<Sparse>())
      let moved = try await silos[Sparse.self].values(orderBy: [Sparse.id.ascending])
      #expect(moved.map(\.stored) == values.map(\.stored))
    }
  }
}
