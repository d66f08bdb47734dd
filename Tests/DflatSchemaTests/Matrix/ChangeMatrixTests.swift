// The verdict of a comparison against what really happens.
//
// Random schemas are edited at random, by what the rules allow and by what they forbid; random
// objects are written with one version and read with the other by flatc. Where the verdict is
// "compatible" everything is read as it was written, but for what the effects say; where it is
// "incompatible" some object is not, or is not found.

import DflatSchema
import Foundation
import SeededRandom
import Testing

@Suite("Changes that are compatible, and changes that are not")
struct ChangeMatrixTests {
  private static let isLong = ProcessInfo.processInfo.environment["DFLAT_LONG"] != nil
  private static let seed = testSeed()
  private static let rounds = isLong ? 1500 : 2 * MatrixEdit.forbidden.count
  private static let objects = MatrixWriter.Form.allCases.count

  private struct Round {
    var pair: MatrixPair
    var edits: [MatrixEdit]
    var comparison: SchemaComparison
  }

  @Test("The verdict and what flatc reads agree", arguments: [seed])
  func agreement(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try withTemporaryDirectory { directory in
      let judge = MatrixFlatc(directory: directory)
      var rounds: [Round] = []
      for number in 0..<Self.rounds {
        // Every forbidden edit has its turn.
        let forbidden =
          number.isMultiple(of: 2)
          ? MatrixEdit.forbidden[number / 2 % MatrixEdit.forbidden.count] : nil
        let (pair, edits) = Self.edited(forbidden, &random)
        let old = try schema(pair.old.text)
        let new = try schema(pair.new.text)
        rounds.append(
          Round(pair: pair, edits: edits, comparison: SchemaComparison(old: old, new: new)))
        try judge.prepare(
          "\(number)", pair, old: Self.objects(of: pair.old, known: pair.old, &random),
          new: Self.objects(of: pair.new, known: pair.old, &random))
      }
      try judge.run()
      var incompatible = 0
      for (number, round) in rounds.enumerated() {
        let readings = try judge.readings("\(number)", old: Self.objects, new: Self.objects)
        let reason = try round.pair.disagreement(readings)
        let harm = round.comparison.changes.filter { $0.severity == .incompatible }
        #expect(
          harm.isEmpty == (reason == nil),
          """
          DFLAT_SEED=\(seed), round \(number), \(round.edits.map(\.rawValue)): \
          the verdict is \(harm.map { "\($0.kind.rawValue) \($0.subject)" }), and in truth: \
          \(reason ?? "all objects are read alike")
          --- old
          \(round.pair.old.text)--- new
          \(round.pair.new.text)
          """)
        if !harm.isEmpty { incompatible += 1 }
      }
      #expect(incompatible > Self.rounds / 4 && incompatible < Self.rounds * 3 / 4)
    }
  }

  @Test("Compatible steps add up", arguments: [seed])
  func steps(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let edits = MatrixEdit.allowed.filter { $0 != .changeVersion && $0 != .changeDefault }
    for round in 0..<(Self.isLong ? 2000 : 30) {
      let first = MatrixSchema.random(&random)
      var current = first
      for _ in 0..<4 {
        var next = current
        for _ in 0..<3 { _ = edits.randomElement(using: &random)!.apply(to: &next, &random) }
        let step = SchemaComparison(old: try schema(current.text), new: try schema(next.text))
        #expect(step.isCompatible, "DFLAT_SEED=\(seed), round \(round)")
        current = next
      }
      let whole = SchemaComparison(old: try schema(first.text), new: try schema(current.text))
      #expect(
        whole.isCompatible, "DFLAT_SEED=\(seed), round \(round): \(first.text)\n\(current.text)")
    }
  }

  /// A random schema and what some edits make of it, perhaps with a forbidden one among them.
  private static func edited(
    _ forbidden: MatrixEdit?, _ random: inout SeededGenerator
  ) -> (MatrixPair, [MatrixEdit]) {
    while true {
      var old = MatrixSchema.random(&random)
      for _ in 0..<4 {
        _ = [MatrixEdit.deprecate, .addIndex, .declareInAnotherOrder].randomElement(using: &random)!
          .apply(to: &old, &random)
      }
      var new = old
      var edits: [MatrixEdit] = []
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let edit = MatrixEdit.allowed.randomElement(using: &random)!
        // Versions hide everything else, so they are tried alone.
        if edit == .changeVersion, forbidden != nil { continue }
        if edit.apply(to: &new, &random) { edits.append(edit) }
      }
      guard let forbidden else { return (MatrixPair(old: old, new: new), edits) }
      if forbidden.apply(to: &new, &random) {
        return (MatrixPair(old: old, new: new), edits + [forbidden])
      }
    }
  }

  /// An object of each form as JSON, with union members that `known` has, too.
  private static func objects(
    of schema: MatrixSchema, known: MatrixSchema, _ random: inout SeededGenerator
  ) -> [String] {
    let members = Set(known.unions.flatMap(known.members).map(\.id))
    return MatrixWriter.Form.allCases.map { form in
      var writer = MatrixWriter(
        schema: schema, members: members, form: form, random: SeededGenerator(seed: random.next()))
      return writer.object()
    }
  }
}
