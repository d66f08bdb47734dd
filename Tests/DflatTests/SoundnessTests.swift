// The fast check of stored rows, compared with the verifier that it replaces.

import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import Testing

@testable import Dflat

@Suite("The fast check of rows")
struct SoundnessTests {
  private let plan = Kit.Item._layout.plan

  private func isSound(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { plan.isSound($0) }
  }

  private func isVerified(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { bytes in
      do {
        try plan.verifyFully(bytes)
        return true
      } catch { return false }
    }
  }

  @Test("The fast check accepts what programs store, except vectors of unions")
  func accepts() throws {
    withSeed { random in
      for _ in 0..<(isLongRun ? 20_000 : 500) {
        let item = RandomItems.item(&random)
        let bytes = [UInt8](item.toData())
        #expect(isVerified(bytes), "DFLAT_SEED=\(random.seed)")
        // An empty vector is not stored.
        #expect(isSound(bytes) == item.pets.isEmpty, "DFLAT_SEED=\(random.seed): \(item)")
      }
    }
  }

  @Test("A type is shallow if its tables nest as deep as the verifier allows", arguments: [64, 65])
  func shallow(depth: Int) {
    var layout = TableLayout("Leaf", slots: 0, [])
    for level in 1..<depth {
      let inner = layout
      let member = UnionLayout("Any", [UnionLayout.Member("Inner", 1, .table { inner })])
      let kinds: [Property.Kind] = [
        .table { inner }, .vector(.table { inner }), .union { member }, .vector(.union { member }),
      ]
      layout = TableLayout("Level", slots: 2, [Property("inner", 6, kinds[level % 4])])
    }
    #expect(layout.plan.isShallow == (depth <= 64))
  }

  @Test("A type whose tables may contain themselves is not shallow")
  func recursive() {
    #expect(!Kit.Crate._layout.plan.isShallow)
    #expect(Kit.Slot._schema.layout.plan.isShallow)
  }

  @Test("The fast check accepts nothing that the verifier rejects, for any changed byte")
  func refuses() throws {
    withSeed { random in
      var accepted = 0
      var refused = 0
      for _ in 0..<(isLongRun ? 2_000 : 20) {
        var item = Kit.ItemBuilder(from: RandomItems.item(&random))
        item.pets = []
        let good = [UInt8](item.build().toData())
        for place in good.indices {
          var bytes = good
          bytes[place] = random.pick([
            0, 1, 2, 3, 4, 0x7F, 0x80, 0xFF, good[place] &+ 1, good[place] &- 1,
            UInt8.random(in: 0...255, using: &random),
          ])
          if random.oneIn(8) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
          guard isSound(bytes) else {
            refused += 1
            continue
          }
          accepted += 1
          #expect(isVerified(bytes), "DFLAT_SEED=\(random.seed): \(bytes)")
        }
      }
      #expect(accepted > 100 && refused > 100)
    }
  }

  @Test(
    "Both bound what shared parts unfold to, at the same size",
    arguments: [1_900, 5_000])
  func sharedBytes(length: Int) throws {
    let field = try #require(Kit.Item._layout.properties.first { $0.name == "tags" }).offset
    let row = Row { builder in
      let text = builder.string(String(repeating: "x", count: length))
      let texts = builder.vector([FlatBufferBuilder.Offset](repeating: text, count: 9_000))
      builder.startTable(slotCount: Kit.Item._layout.slotCount)
      builder.add(texts, at: field)
      return builder.endTable()
    }
    // 9,000 references of 4 bytes, 64 times, and 16 MiB.
    let isAccepted = length < 2_000
    let bytes = row.withBytes { [UInt8]($0) }
    #expect(isSound(bytes) == isAccepted && isVerified(bytes) == isAccepted)
  }

  @Test("A scan accepts the same rows as the fast check, whatever rows come before")
  func remembersVtables() {
    let plan = V2.Letter._schema.layout.plan
    withSeed { random in
      func text() -> String? {
        random.oneIn(3) ? nil : String(repeating: "x", count: Int.random(in: 0...9, using: &random))
      }
      var accepted = 0
      var refused = 0
      for _ in 0..<(isLongRun ? 500 : 10) {
        let memo = SoundnessMemo(plan)
        for _ in 0..<1_000 {
          let letter = V2.Letter(
            id: text() ?? "", text: text(), words: Int32.random(in: 0...2, using: &random),
            slug: text())
          var bytes = [UInt8](letter.toData())
          if random.oneIn(2) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            bytes[place] = random.pick([0, 1, 4, 0x7F, 0xFF, bytes[place] &+ 1, bytes[place] &- 1])
          }
          if random.oneIn(16) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
          let expected = bytes.withUnsafeBytes { plan.isSound($0) }
          let found = bytes.withUnsafeBytes { memo.isSound($0) }
          #expect(found == expected, "DFLAT_SEED=\(random.seed): \(bytes)")
          if found { accepted += 1 } else { refused += 1 }
        }
      }
      #expect(accepted > 100 && refused > 100)
    }
  }

  @Test("A scan accepts the same rows with tables, unions and vectors, whatever rows come before")
  func remembersParts() {
    let plan = JudgedSchemas.shell.plan
    withSeed { random in
      var accepted = 0
      var refused = 0
      for _ in 0..<(isLongRun ? 500 : 20) {
        let memo = SoundnessMemo(plan)
        for _ in 0..<1_000 {
          let good = WildBuffer.make(JudgedSchemas.shell, &random)
          for bytes in [good, WildBuffer.mutated(good, &random)] {
            let expected = bytes.withUnsafeBytes { plan.isSound($0) }
            let found = bytes.withUnsafeBytes { memo.isSound($0) }
            #expect(found == expected, "DFLAT_SEED=\(random.seed): \(bytes)")
            if found { accepted += 1 } else { refused += 1 }
          }
        }
      }
      #expect(accepted > 1_000 && refused > 1_000)
    }
  }
}
