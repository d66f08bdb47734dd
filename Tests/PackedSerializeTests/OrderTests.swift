// The bytes of keys sort like the values, even when other components follow.

import DflatTestSupport
import Foundation
import PackedSerialize
import Testing

struct OrderTests {
  /// Compares the order of the bytes with that of the values for many pairs, alone and with a
  /// suffix. Every value is read back.
  private func check<T: Serializable & Deserializable>(
    _ type: T.Type, _ random: inout SeededGenerator, before: (T, T) -> Bool,
    make: (inout SeededGenerator) -> T, location: SourceLocation = #_sourceLocation
  ) throws {
    var values = (0..<(isLongRun ? 2_000 : 60)).map { _ in make(&random) }
    values += values.prefix(5)
    for left in values {
      let bytes = keyBytes(left)
      let (read, remaining) = try keyValue(T.self, of: bytes + [0])
      if remaining != 1 || keyBytes(read) != bytes {
        Issue.record(
          "\(left) came back as \(read), DFLAT_SEED=\(random.seed)", sourceLocation: location)
      }
      for right in values {
        let expected = before(left, right)
        let tails =
          (random.pick([[], [0], [0xFF]]), random.pick([[], [0], [0xFF]])) as ([UInt8], [UInt8])
        let other = keyBytes(right)
        let found = bytes.lexicographicallyPrecedes(other)
        let foundWithTails = (bytes + tails.0).lexicographicallyPrecedes(other + tails.1)
        if found != expected || (bytes != other && foundWithTails != expected) {
          Issue.record("\(left) and \(right), DFLAT_SEED=\(random.seed)", sourceLocation: location)
          return
        }
      }
    }
  }

  private func checkIntegers<T: FixedWidthInteger & Serializable & Deserializable>(
    _ type: T.Type, _ random: inout SeededGenerator
  ) throws {
    try check(type, &random, before: <) { random in
      random.oneIn(4)
        ? random.pick([.min, .max, 0, .min + 1, .max - 1, 1])
        : T.random(in: .min ... .max, using: &random)
          >> T.random(in: 0..<T(T.bitWidth), using: &random)
    }
  }

  @Test func integers() throws {
    try withSeed { random in
      try checkIntegers(Int.self, &random)
      try checkIntegers(Int8.self, &random)
      try checkIntegers(Int16.self, &random)
      try checkIntegers(Int32.self, &random)
      try checkIntegers(Int64.self, &random)
      try checkIntegers(UInt.self, &random)
      try checkIntegers(UInt8.self, &random)
      try checkIntegers(UInt16.self, &random)
      try checkIntegers(UInt32.self, &random)
      try checkIntegers(UInt64.self, &random)
      try checkIntegers(Int128.self, &random)
      try checkIntegers(UInt128.self, &random)
    }
  }

  @Test func floatingPoint() throws {
    try withSeed { random in
      try check(Double.self, &random, before: <) { random in
        random.oneIn(4)
          ? random.pick([0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude])
          : Double(bitPattern: random.next()).isNaN
            ? 1 : Double.random(in: -1e3...1e3, using: &random)
      }
      try check(Float.self, &random, before: <) { Float.random(in: -1...1, using: &$0) }
    }
  }

  @Test func decimals() throws {
    try withSeed { random in
      try check(Decimal.self, &random, before: <) { random in
        if random.oneIn(4) {
          return random.pick([
            0, 1, -1, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
            -.leastNonzeroMagnitude, .pi, 10, 100, -10, 0.1,
          ])
        }
        let digits = Decimal(Int64.random(in: -2_000...2_000, using: &random))
        let shift = Int.random(in: 0...63, using: &random)
        let more = Decimal(UInt64.random(in: 0...UInt64.max, using: &random) >> shift)
        let sum = random.oneIn(2) ? digits : digits * more + digits
        return sum * pow(10, Int.random(in: 0...40, using: &random) - 20)
      }
    }
  }

  @Test func strings() throws {
    try withSeed { random in
      try check(String.self, &random) {
        $0.utf8.lexicographicallyPrecedes($1.utf8)
      } make: { random in
        String(
          (0..<Int.random(in: 0...5, using: &random)).map { _ in
            random.pick(["a", "b", "é", "\u{1}", "\u{FFFF}", "😀"])
          } as [Character])
      }
    }
  }

  @Test func data() throws {
    try withSeed { random in
      try check(Data.self, &random, before: { $0.lexicographicallyPrecedes($1) }) { random in
        Data(
          (0..<Int.random(in: 0...5, using: &random)).map { _ in random.pick([0, 1, 0xFE, 0xFF]) })
      }
    }
  }

  @Test func otherTypes() throws {
    try withSeed { random in
      try check(Bool.self, &random, before: { !$0 && $1 }) { Bool.random(using: &$0) }
      try check(Int?.self, &random) { left, right in
        guard let right else { return false }
        return left.map { $0 < right } ?? true
      } make: { random in
        random.oneIn(3) ? nil : Int.random(in: -3...3, using: &random)
      }
      try check(UUID.self, &random) {
        withUnsafeBytes(of: $0.uuid) { Array($0) }.lexicographicallyPrecedes(
          withUnsafeBytes(of: $1.uuid) { Array($0) })
      } make: { random in
        var bytes = UUID().uuid
        bytes.0 = UInt8.random(in: 0...255, using: &random)
        return UUID(uuid: bytes)
      }
      // Compared in whole milliseconds; smaller differences are lost.
      try check(Date.self, &random) {
        ($0.timeIntervalSince1970 * 1000).rounded() < ($1.timeIntervalSince1970 * 1000).rounded()
      } make: { random in
        Date(timeIntervalSince1970: Double(Int.random(in: -4...4, using: &random)) / 8)
      }
    }
  }

  @Test("A date that was read is written as the same bytes")
  func datesAreStable() throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 1_000_000 : 20_000) {
        // The seconds since 1970 are just above 2^42, and those since 2001 just below: the former
        // have a bit less after the point.
        let border = (1 << 42) * 1_000 + Int64.random(in: 0...978_307_200_000, using: &random)
        let milliseconds =
          random.oneIn(3)
          ? border
          : Int64.random(in: -100_000_000_000_000...100_000_000_000_000, using: &random)
        let stored = bytes(milliseconds)
        let (date, _) = try value(Date.self, of: stored)
        guard bytes(date) == stored else {
          Issue.record("\(milliseconds) ms, DFLAT_SEED=\(random.seed)")
          return
        }
      }
    }
  }
}
