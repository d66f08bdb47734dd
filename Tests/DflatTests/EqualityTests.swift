// Equality of rows: the quick comparison of integers and strings agrees with the comparison by
// value.

import DflatTestSupport
import FlatBuffersRuntime
import Testing

@testable import Dflat

@Suite("Equality of rows")
struct EqualityTests {
  private static let layout = Kit.Item._schema.layout

  private static func areSame(_ left: Row, _ right: Row) -> Bool {
    left.read { l in right.read { r in layout.equal(l, r) } }
  }

  @Test("The quick comparison agrees with the comparison by value")
  func quickLook() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 20_000 : 1000) {
        let one = RandomItems.item(&random)
        var builder = Kit.ItemBuilder(from: one)
        // Mostly zero or one fields differ.
        switch Int.random(in: 0..<8, using: &random) {
        case 0: builder.number = random.pick([0, 3, .min])
        case 1: builder.big = random.pick([0, .max])
        case 2: builder.tiny = random.pick([0, -1, 1])
        case 3: builder.title = random.pick([nil, "", "a", "a\0"])
        case 4: builder.word = random.pick(["", "plain", "é", "e\u{301}"])
        case 5: builder.maybeReal = random.pick([nil, 0, -0.0, .nan])
        case 6: RandomItems.fill(&builder, &random)
        default: break
        }
        let other = builder.build()
        let isSame = Self.areSame(one._row, other._row)
        #expect((one == other) == isSame, "DFLAT_SEED=\(random.seed): \(one) and \(other)")
        #expect((other == one) == isSame)
        #expect(one == Kit.ItemBuilder(from: one).build())
      }
    }
  }

  @Test("A stored default equals an absent one, and floats with different bits may be equal")
  func otherEncodings() {
    /// An item with the serial number 7 and the fields that `add` writes.
    func item(_ add: (FlatBufferBuilder) -> Void) -> Kit.Item {
      Kit.Item(
        _row: Row { builder in
          builder.startTable(slotCount: Self.layout.slotCount)
          builder.add(Optional(UInt64(7)), at: offset("serial"))
          add(builder)
          return builder.endTable()
        })
    }
    func offset(_ name: String) -> Int {
      Self.layout.properties.first { $0.name == name }?.offset ?? 0
    }
    let plain = item { _ in }
    #expect(plain == item { $0.add(Optional(Int32(3)), at: offset("number")) })
    #expect(plain != item { $0.add(Optional(Int32(4)), at: offset("number")) })
    #expect(plain == item { $0.add(Optional(1.5), at: offset("real")) })
    #expect(plain == item { $0.add(Optional(Float(-0.0)), at: offset("single")) })
    let nan = item { $0.add(Optional(Double.nan), at: offset("real")) }
    #expect(nan == item { $0.add(Optional(-Double.nan), at: offset("real")) })
    #expect(nan != plain)
    #expect(plain == item { $0.add(Optional(UInt8(0)), at: offset("flag")) })
    #expect(
      item { $0.add(Optional(UInt8(1)), at: offset("flag")) }
        == item { $0.add(Optional(UInt8(2)), at: offset("flag")) })
    // An unknown value of an enum reads as the default.
    #expect(plain == item { $0.add(Optional(Int8(99)), at: offset("mood")) })
  }
}
