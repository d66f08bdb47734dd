// Random programs over values whose older versions cannot all be migrated, compared with a
// dictionary of what each id must be.

import DflatTestSupport
import Foundation
@testable import Silo
import Testing

/// What each id must be.
private struct Model {
  /// An older value, and what each release makes of it; nil if it throws.
  struct Old {
    var id: Int
    var keepsID: Bool
    var broken: [Int: Int]?
    var mended: [Int: Int]?
  }

  var stored: [Int: Int] = [:]
  var old: [Old] = []

  /// A release is used: it migrates what it can.
  mutating func migrate(_ outcome: KeyPath<Old, [Int: Int]?>) {
    for value in old { for (id, number) in value[keyPath: outcome] ?? [:] { stored[id] = number } }
    old.removeAll { $0[keyPath: outcome] != nil }
  }

  /// A program decides about an id.
  mutating func decide(_ id: Int, _ number: Int?) {
    stored[id] = number
    old.removeAll { $0.keepsID && $0.id == id }
    for index in old.indices {
      old[index].broken?[id] = nil
      old[index].mended?[id] = nil
    }
  }
}

private struct Refusal: Error {}

@Suite("Values that cannot be migrated, against a model")
struct RandomUnmigratedTests {
  /// Stores values of old versions. Of each it returns what the releases make of it.
  private typealias Preparation = (
    VersionedPlace.Opener, inout SeededGenerator
  ) async throws -> [Model.Old]

  private func prepare<B: OnceText>(
    _ broken: B.Type, _ opener: VersionedPlace.Opener, _ random: inout SeededGenerator
  ) async throws -> [Model.Old] {
    let texts = ["1", "2", "two", "zwei", "drop"]
    let values = (0..<8).filter { _ in Bool.random(using: &random) }.map {
      B.First(id: $0, text: texts.randomElement(using: &random)!)
    }
    try await Silos(opener.store(B.First.self))[B.First.self].save(values)
    return values.map { value in
      let number = Int(value.text)
      let isDropped = value.text == "drop"
      return Model.Old(
        id: value.id, keepsID: true,
        broken: isDropped ? [:] : number.map { [value.id: $0] },
        mended: isDropped ? [:] : [value.id: number ?? -1])
    }
  }

  private func prepareCounters(
    _ opener: VersionedPlace.Opener, _ random: inout SeededGenerator
  ) async throws -> [Model.Old] {
    var old = try await prepare(Broken.Counter.self, opener, &random)
    let values = (0..<8).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }.map {
      Broken.Counter.V2(
        id: $0, text: ["5", "fünf", "drop"].randomElement(using: &random)!, note: "")
    }
    // A release of the second version has saved them.
    try await Silos(opener.store(Broken.Counter.V2.self))[Broken.Counter.V2.self].save(values)
    for value in values {
      old.removeAll { $0.id == value.id }
      let number = Int(value.text)
      let isDropped = value.text == "drop"
      old.append(
        Model.Old(
          id: value.id, keepsID: true,
          broken: isDropped ? [:] : number.map { [value.id: $0] },
          mended: isDropped ? [:] : [value.id: number ?? -1]))
    }
    return old
  }

  private func prepareStops(
    _ opener: VersionedPlace.Opener, _ random: inout SeededGenerator
  ) async throws -> [Model.Old] {
    let trips = [0, 3, 6].map { id in
      Broken.Stop.V1(
        id: id,
        lengths: (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Int.random(in: -1...4, using: &random)
        })
    }
    try await Silos(opener.store(Broken.Stop.V1.self))[Broken.Stop.V1.self].save(trips)
    return trips.map { trip in
      var stops: [Int: Int] = [:]
      for (index, length) in trip.lengths.enumerated() { stops[trip.id + index] = length }
      return Model.Old(
        id: trip.id, keepsID: false, broken: trip.lengths.contains(-1) ? nil : stops,
        mended: stops)
    }
  }

  @Test("Every id is what was decided about it", arguments: VersionedPlace.all)
  func model(place: VersionedPlace) async throws {
    var random = SeededGenerator(seed: testSeed())
    let seed = random.seed
    for round in 0..<(isLongRun ? 60 : 2) {
      let isCached = Bool.random(using: &random)
      let comment = "round \(round), cached: \(isCached), DFLAT_SEED=\(seed)"
      try await place.run { opener in
        try await run(
          Broken.Counter.self, Mended.Counter.self, prepareCounters, opener, isCached, &random,
          comment + ", counters")
        try await run(
          Broken.Price.self, Mended.Price.self,
          { try await prepare(Broken.Price.self, $0, &$1) }, opener, isCached, &random,
          comment + ", prices")
        try await run(
          Broken.Stop.self, Mended.Stop.self, prepareStops, opener, isCached, &random,
          comment + ", stops")
      }
    }
  }

  private func run<B: NumberedValue, M: NumberedValue>(
    _ broken: B.Type, _ mended: M.Type, _ prepare: Preparation,
    _ opener: VersionedPlace.Opener, _ isCached: Bool, _ random: inout SeededGenerator,
    _ comment: String
  ) async throws {
    var model = Model()
    model.old = try await prepare(opener, &random)
    model.migrate(\.broken)
    for process in 0..<2 {
      let silo = Silos(opener.store(B.self, isCached: isCached))[B.self]
      guard
        try await use(silo, &model, \.broken, &random, comment + ", broken process \(process)")
      else { return }
    }
    model.migrate(\.mended)
    for process in 0..<2 {
      let silo = Silos(opener.store(M.self, isCached: isCached))[M.self]
      guard
        try await use(silo, &model, \.mended, &random, comment + ", mended process \(process)")
      else { return }
      try await silo.migrate()
    }
  }

  /// Uses a silo as one process of a program.
  /// - Returns: Whether all answers were right.
  private func use<V: NumberedValue>(
    _ silo: Silo<V>, _ model: inout Model, _ outcome: KeyPath<Model.Old, [Int: Int]?>,
    _ random: inout SeededGenerator, _ comment: String
  ) async throws -> Bool {
    var program: [String] = []
    // Handlers of the workspace hear nothing.
    silo.silos.errorHandler = { _ in }
    for _ in 0..<8 {
      guard try await compare(silo, model, "\(comment): \(program)") else { return false }
      let id = Int.random(in: 0..<9, using: &random)
      let number = Int.random(in: 100..<200, using: &random)
      let kind = Int.random(in: 0..<9, using: &random)
      program.append("\(kind) \(id) \(number)")
      switch kind {
      case 0, 1:
        try await silo.save(V(id: id, number: number), ifDeleted: .recreate)
        model.decide(id, number)
      case 2:
        #expect(try await silo.remove(id) == (model.stored[id] != nil), "\(comment): \(program)")
        model.decide(id, nil)
      case 3:
        #expect(try await silo.evict(id) == (model.stored[id] != nil), "\(comment): \(program)")
        model.decide(id, nil)
      case 4:
        #expect(try await silo.delete(id) == (model.stored[id] != nil), "\(comment): \(program)")
        model.decide(id, nil)
      case 5:
        guard let entry = try await silo.unmigrated.randomElement(using: &random) else { continue }
        try await silo.replaceUnmigrated(entry, with: [])
        model.old.removeAll { $0.id == entry.id }
      case 6:
        guard let entry = try await silo.unmigrated.randomElement(using: &random) else { continue }
        try await silo.forgetDeletion(id)
        #expect(
          try await silo.replaceUnmigrated(entry, with: V(id: id, number: number)),
          "\(comment): \(program)")
        model.old.removeAll { $0.id == entry.id }
        model.decide(id, number)
      case 7:
        await #expect(throws: Refusal.self) {
          try await silo.silos.write { txn in
            try txn[V.self].save(V(id: id, number: number), ifDeleted: .recreate)
            try txn[V.self].delete((id + 1) % 9)
            throw Refusal()
          }
        }
      default:
        let left = try await silo.retryUnmigrated()
        #expect(
          Set(left.map(\.id)) == Set(model.old.map(\.id)), "\(comment): \(program)")
      }
      // What was decided may be all that had been wrong with an older value.
      if kind == 8 { model.migrate(outcome) }
    }
    return try await compare(silo, model, "\(comment): \(program)")
  }

  private func compare<V: NumberedValue>(
    _ silo: Silo<V>, _ model: Model, _ comment: String
  ) async throws -> Bool {
    let values = try await silo.values()
    let found = values.map { [$0.id, $0.number] }.sorted { $0[0] < $1[0] }
    let expected = model.stored.sorted { $0.key < $1.key }.map { [$0.key, $0.value] }
    var isSame = found == expected
    #expect(isSame, "\(found) instead of \(expected); \(comment)")
    let count = try await silo.count()
    let large = try await silo.values(where: V.number >= 100)
    let loaded = try await silo.load(0..<9)
    isSame = isSame && count == expected.count
    isSame = isSame && large.count == expected.count { $0[1] >= 100 }
    isSame = isSame && loaded.map { [$0.id, $0.number] } == expected
    #expect(isSame, "\(count), \(large), \(loaded) instead of \(expected); \(comment)")
    return isSame
  }
}
