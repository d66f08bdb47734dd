// Conditions about properties of every kind, against the same tests in Swift.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@testable import Silo

struct ConditionTests {
  private typealias Test = (
    condition: Condition<Canonical<Everything>>, test: (Everything) -> Bool
  )

  @Test("Conditions about properties find what Swift finds", arguments: TestStores.all)
  func properties(stores: TestStores) async throws {
    let seed = testSeed()
    var random = SeededGenerator(seed: seed)
    let values = (0..<60).map { _ in Everything.random(using: &random) }
    let tests: [Test] = [
      (Everything.address.city == "Paris", { $0.address.city == "Paris" }),
      (Everything.address.number > 3, { $0.address.number.map { $0 > 3 } ?? false }),
      (Everything.address.tags.count == 0, { $0.address.tags.isEmpty }),
      (Everything.maybeAddress == nil, { $0.maybeAddress == nil }),
      (Everything.maybeAddress == nil && Everything.flag, { $0.maybeAddress == nil && $0.flag }),
      (
        !(Everything.maybeAddress == nil) && Everything.flag,
        { $0.maybeAddress != nil && $0.flag }
      ),
      (
        Everything.maybeAddress.number == nil && Everything.flag,
        { $0.maybeAddress?.number == nil && $0.flag }
      ),
      (Everything.maybeInt != nil && Everything.flag, { $0.maybeInt != nil && $0.flag }),
      (Everything.addresses.count > 1, { $0.addresses.count > 1 }),
      (
        Everything.addresses == nil || Everything.homes == nil,
        { $0.addresses.isEmpty || $0.homes.isEmpty }
      ),
      (
        Everything.addresses.any { $0.city == "Paris" },
        { $0.addresses.contains { $0.city == "Paris" } }
      ),
      (
        Everything.homes.all { $0.number == nil && $0.city != "" },
        { $0.homes.allSatisfy { $0.number == nil && $0.city != "" } }
      ),
      (
        Everything.numbers == nil || Everything.data == nil,
        { $0.numbers.isEmpty || $0.data.isEmpty }
      ),
      (
        Everything.counts == nil && Everything.nested != nil,
        { $0.counts.isEmpty && !$0.nested.isEmpty }
      ),
      (Everything.byNumber.count == 1, { $0.byNumber.count == 1 }),
    ]
    try await stores.withSilos { silos in
      let silo = silos[Everything.self]
      try await silo.save(values)
      for (place, test) in tests.enumerated() {
        let found = try await Set(silo.values(where: test.condition).map(\.id))
        let expected = Set(values.filter(test.test).map(\.id))
        #expect(found == expected, "condition \(place), DFLAT_SEED=\(seed)")
      }
    }
  }
}
