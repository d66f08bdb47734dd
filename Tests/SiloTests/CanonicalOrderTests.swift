// The order in which sets, dictionaries and relations are stored.

import DflatTestSupport
import Foundation
import Testing

@testable import Silo

@Suite("The order of stored elements")
struct CanonicalOrderTests {
  @Test("is that of their stored bytes, however it is found")
  func sameOrder() {
    withSeed { random in
      func check<P: PersistableProperty & Equatable>(_ make: () -> P) {
        for count in [2, 3, 7, 40] {
          let values = (0..<count).map { _ in make() }
          let quick = values.inCanonicalOrder { $0 }
          let bytes = values.inOrderOfBytes { $0 }
          // NaN equals nothing: the stored bits are compared.
          #expect(
            quick.map { "\($0._constant.debugDescription)" }
              == bytes.map { "\($0._constant.debugDescription)" }, "DFLAT_SEED=\(random.seed)")
        }
      }
      for _ in 0..<(isLongRun ? 200 : 10) {
        check {
          let letters = (0..<Int.random(in: 0...3, using: &random)).map { _ in
            ["a", "é", "\u{0}", "z", String(repeating: "x", count: 200)].randomElement(
              using: &random)
              ?? ""
          }
          return letters.joined()
        }
        check { Int.random(in: -3...300, using: &random) }
        check { Int64.random(in: .min ... .max, using: &random) }
        check { UInt8.random(in: 0...255, using: &random) }
        check { UInt64.random(in: 0...(.max), using: &random) }
        check { [0, -0.0, 1, -1, .infinity, 1e300].randomElement(using: &random) ?? 0.5 }
        check { Bool.random(using: &random) }
        check {
          UUID(
            uuidString:
              "00000000-0000-0000-0000-0000000000\(Int.random(in: 10...99, using: &random))")
            ?? UUID()
        }
      }
    }
  }
}
