// The keys of everything in memory: the order of their bytes against the order of values.

import Dflat
import DflatTestSupport
import Testing

@testable import MemoryDflat

@Suite("Sort keys")
struct SortKeyTests {
  private enum Part: Equatable {
    case null
    case integer(Int64)
    case unsigned(UInt64)
    case real(Double)
    case text([UInt8])

    /// Negative if this part comes first, zero if they are equal.
    func compare(_ other: Part) -> Int {
      func order<T: Comparable>(_ left: T, _ right: T) -> Int {
        left < right ? -1 : left == right ? 0 : 1
      }
      switch (self, other) {
      case (.null, .null): return 0
      case (.null, _): return -1
      case (_, .null): return 1
      case (.integer(let left), .integer(let right)): return order(left, right)
      case (.unsigned(let left), .unsigned(let right)): return order(left, right)
      case (.real(let left), .real(let right)): return order(left, right)
      case (.text(let left), .text(let right)):
        return left.lexicographicallyPrecedes(right) ? -1 : left == right ? 0 : 1
      default: preconditionFailure("two types")
      }
    }
  }

  private static let types: [ValueType] = [
    .bool, .int32, .int64, .uint64, .float, .double, .string,
  ]

  private func part(_ type: ValueType, _ random: inout SeededGenerator) -> Part {
    if random.oneIn(6) { return .null }
    let bits = UInt64.random(in: 0...UInt64.max, using: &random) >> random.pick([0, 8, 31, 56, 63])
    switch type {
    case .bool: return .integer(random.oneIn(2) ? 1 : 0)
    case .int32: return .integer(random.pick([Int64(Int32.min), -256, -255, -1, 0, 1, 255, 256]))
    case .int64:
      let number = Int64(bitPattern: bits)
      return .integer(random.pick([number, ~number, .min, .max, -1, 0, -65_536, 65_535]))
    case .uint64: return .unsigned(random.pick([bits, 0, 1, 255, 256, .max, 1 << 63]))
    case .float, .double:
      let ends = [0, -0.0, 1, -1, .infinity, -.infinity, .leastNonzeroMagnitude, 1.5, -1.5]
      let number = Double(bitPattern: bits)
      return .real(random.pick(ends + [number.isNaN ? 0 : number, -.greatestFiniteMagnitude]))
    default:
      let lengths = [0, 1, 2, 6, 7, 8, 9, 20, random.oneIn(10) ? 300 : 5]
      let bytes: [UInt8] = [0, 0, 1, 0x61, 0x61, 0xC3, 0xFF]
      return .text((0..<random.pick(lengths)).map { _ in random.pick(bytes) })
    }
  }

  private func append(_ part: Part, _ type: ValueType, to writer: inout KeyWriter) {
    switch part {
    case .null: writer.append(.null, type)
    case .integer(let value): writer.append(.integer(value), type)
    case .unsigned(let value): writer.append(.integer(Int64(bitPattern: value)), type)
    case .real(let value): writer.append(.real(value), type)
    case .text(let bytes):
      bytes.withUnsafeBytes { writer.append(.text($0), type) }
    }
  }

  private func codes(_ parts: [Part], _ types: [ValueType]) -> [UInt8] {
    KeyWriter.with(
      { writer in
        for (part, type) in zip(parts, types) { append(part, type, to: &writer) }
        #expect(writer.hasNull == parts.contains(.null))
      }, \.codes)
  }

  private func key(_ codes: [UInt8]) -> SortKey { codes.withUnsafeBytes { SortKey(KeyView($0)) } }

  @Test("The order of keys is that of their values, part by part")
  func order() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 2000 : 100) {
        let types = (0..<Int.random(in: 1...3, using: &random)).map { _ in random.pick(Self.types) }
        let all = (0..<30).map { _ in types.map { part($0, &random) } }
        for left in all {
          for right in all {
            let expected = zip(left, right).lazy.map { $0.compare($1) }.first { $0 != 0 } ?? 0
            let (leftCodes, rightCodes) = (codes(left, types), codes(right, types))
            let (leftKey, rightKey) = (key(leftCodes), key(rightCodes))
            #expect((leftKey < rightKey) == (expected < 0), "\(left) \(right)")
            #expect((leftKey == rightKey) == (expected == 0), "\(left) \(right)")
            #expect(rightKey.withView { leftKey.compare($0).signum() } == expected)
            checkRange(leftKey, from: left, through: right, types)
          }
        }
      }
    }
  }

  /// A range over the first values has the keys that begin with them.
  private func checkRange(
    _ key: SortKey, from left: [Part], through right: [Part], _ types: [ValueType]
  ) {
    let codes = codes([right[0]], types)
    let range = KeyRange(from: codes, through: codes)
    let isWithin = range.lower.map { $0 <= key } != false && range.upper.map { key < $0 } != false
    #expect(isWithin == (left[0].compare(right[0]) == 0), "\(left) \(right)")
  }

  @Test("The ends of codes are found in a key")
  func ends() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 20_000 : 1000) {
        let types = (0..<3).map { _ in random.pick(Self.types) }
        let parts = types.map { part($0, &random) }
        var end = 0
        for (place, type) in types.enumerated() {
          end = key(codes(parts, types)).withBytes { type.end(ofCodeAt: end, in: $0) }
          let prefix = codes(Array(parts[...place]), types)
          #expect(end == prefix.count, "\(parts) \(types)")
        }
      }
    }
  }

  @Test("Constants have the codes of stored values, and NaN that of no other number")
  func constants() {
    func code(_ constant: Value) -> [UInt8] { KeyWriter.with({ $0.append(constant) }, \.codes) }
    #expect(code(.bool(true)) == codes([.integer(1)], [.bool]))
    #expect(code(.integer(-7)) == codes([.integer(-7)], [.int8]))
    #expect(code(.unsigned(.max)) == codes([.unsigned(.max)], [.uint64]))
    #expect(code(.real(-0.0)) == codes([.real(0)], [.float]))
    #expect(code(.string("é\0")) == codes([.text([0xC3, 0xA9, 0])], [.string]))
    let nan = key(code(.real(.nan)))
    #expect(nan == key(code(.real(-.nan))) && key(code(.real(.infinity))) < nan)
    #expect(key(codes([.null], [.double])) < key(code(.real(-.infinity))))
  }

  @Test("A range with infinity in front of another value contains the key that has both")
  func infinity() throws {
    let index = try #require(
      Desk.Memo._schema.indexes.first {
        $0.columns.count > 1 && $0.columns[0].field.type == .double
      })
    let fields = index.columns.map(\.field)
    let test = KeyTest(
      .and([
        .oneOf(fields[0], [.real(.infinity)]), .compare(fields[1], .equal, .integer(1)),
      ]), fields)
    let key = key(codes([.real(.infinity), .integer(1)], [.double, .int64]))
    #expect(test.passes(key))
    #expect(
      test.ranges.contains {
        $0.lower.map { $0 <= key } != false && $0.upper.map { key < $0 } != false
      })
  }

  @Test("Row ids have their order")
  func ids() {
    let ids: [Int64] = [.min, -1, 0, 1, 255, 256, .max]
    let keys = ids.map { SortKey(KeyView(id: $0)) }
    #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
  }
}
