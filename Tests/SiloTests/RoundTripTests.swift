// Values come back equal to what was saved, through their canonical representation.

import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
import Testing

@testable import Silo

struct RoundTripTests {
  /// The value that the stored bytes of a value are, verified as if they came from a file.
  private func again<V: Persistable>(_ value: V) throws -> V {
    let data = Canonical(value).toData()
    return try Canonical<V>(verifying: data).value()
  }

  @Test("A value of every type comes back equal, and equal values have equal bytes")
  func everything() throws {
    try withSeed { random in
     for _ in 0..<200 {
      var value = Everything.random(using: &random)
      let result = try again(value)
      #expect(result == value)
      // Sets and dictionaries that are filled in another order.
      value.words = Set(value.words.shuffled())
      let copy = Everything?.some(value).map { value -> Everything in
        var value = value
        value.homes = Set(value.homes.shuffled(using: &random))
        value.counts = Dictionary(uniqueKeysWithValues: value.counts.shuffled(using: &random))
        return value
      }
      #expect(Canonical(value).toData() == copy.map { Canonical($0).toData() })
     }
    }
  }
}
