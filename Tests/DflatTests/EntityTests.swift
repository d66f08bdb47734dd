// Entities as values.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Entities")
struct EntityTests {
  @Test("Random objects round-trip through bytes, builders and JSON, and equality is by content")
  func roundTrips() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 20_000 : 300) {
        let item = RandomItems.item(&random)
        #expect(Kit.Item.from(data: item.toData()) == item, "DFLAT_SEED=\(random.seed)")
        let rebuilt = Kit.ItemBuilder(from: item).build()
        #expect(rebuilt == item && rebuilt.hashValue == item.hashValue)
        #expect(!item.description.isEmpty)
        var other = Kit.ItemBuilder(from: item)
        other.plainLong &+= 1
        #expect(other.build() != item)
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
          positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
          positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let json = try encoder.encode(item)
        let decoded = try decoder.decode(Kit.Item.self, from: json)
        if decoded != item {
          Issue.record("DFLAT_SEED=\(random.seed): \(item) became \(decoded)")
          return
        }
      }
    }
  }

  @Test("Defaults are not stored")
  func defaults() {
    let plain = Kit.Item(name: "n", serial: 1)
    let spelled = Kit.Item(
      name: "n", serial: 1, number: 3, real: 1.5, mood: .wild, wide: .small, word: "plain")
    #expect(plain.toData() == spelled.toData())
    #expect(plain.number == 3 && plain.mood == .wild && plain.word == "plain")
    #expect(Kit.Item(name: "n", serial: 1, number: 0).number == 0)
  }

  @Test("Keys of several fields are equal if their bytes are")
  func compositeKeys() {
    let composed = "caf\u{E9}"
    let decomposed = "cafe\u{301}"
    // Swift considers these strings equal; for the storage they are two keys.
    #expect(composed == decomposed)
    #expect(CompositeKey(composed, 1) != CompositeKey(decomposed, 1))
    #expect(Set([CompositeKey(composed, 1), CompositeKey(decomposed, 1)]).count == 2)
    #expect(CompositeKey(composed, 1) == CompositeKey(String(composed.reversed().reversed()), 1))
    #expect(CompositeKey("a", "bc") != CompositeKey("ab", "c"))
    #expect(CompositeKey("a", 1).hashValue == CompositeKey("a", 1).hashValue)
    #expect(CompositeKey("a", 1) != CompositeKey("a", 2))
  }

  @Test("No bytes crash the readers of an entity")
  func hostileBytes() throws {
    withSeed { random in
      let good = [UInt8](RandomItems.item(&random).toData())
      for _ in 0..<(isLongRun ? 100_000 : 2_000) {
        var bytes = good
        for _ in 0..<random.pick([1, 2, 5]) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
            in: 0...255, using: &random)
        }
        if random.oneIn(4) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
        let item = Kit.Item.from(data: Data(bytes))
        _ = (item.description, item.hashValue, Kit.ItemBuilder(from: item).build() == item)
      }
    }
  }
}
