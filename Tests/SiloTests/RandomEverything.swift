// Random values of every type, with the contents that are most likely to be misread.

import DflatTestSupport
import Foundation
import Silo

extension Everything {
  static func random(using random: inout SeededGenerator) -> Everything {
    Everything(
      id: .random(using: &random), flag: .random(using: &random), i8: number(&random),
      i16: number(&random), i32: number(&random), i64: number(&random), int: number(&random),
      u8: number(&random), u16: number(&random), u32: number(&random), u64: number(&random),
      uint: number(&random), real: real(&random), double: real(&random), decimal: decimal(&random),
      text: text(&random), data: data(&random), date: date(&random), uuid: .random(using: &random),
      url: url(&random), priority: pick(Priority.allCases, &random),
      size: pick(Size.allCases, &random), contents: contents(&random), address: address(&random),
      maybeFlag: maybe(&random) { .random(using: &$0) }, maybeInt: maybe(&random, number),
      maybeText: maybe(&random, text), maybeDate: maybe(&random, date),
      maybeData: maybe(&random, data),
      maybePriority: maybe(&random) { pick(Priority.allCases, &$0) },
      maybeAddress: maybe(&random, address),
      maybeContents: maybe(&random) { contents(&$0) }, numbers: list(&random, number),
      texts: list(&random, text), dates: list(&random, date), addresses: list(&random, address),
      nested: list(&random) { list(&$0, text) }, optionals: list(&random) { maybe(&$0, number) },
      datas: list(&random, data), words: Set(list(&random, text)),
      homes: Set(list(&random, address)),
      counts: Dictionary(list(&random) { (text(&$0), number(&$0)) }) { $1 },
      byNumber: Dictionary(list(&random) { (number(&$0), address(&$0)) }) { $1 },
      byPriority: Dictionary(
        list(&random) { (pick(Priority.allCases, &$0), list(&$0, text)) }
      ) { $1 }, maybeList: maybe(&random) { list(&$0, text) }, count: number(&random),
      title: text(&random), ratio: real(&random), level: pick(Priority.allCases, &random))
  }

  static func pick<T>(_ values: [T], _ random: inout SeededGenerator) -> T {
    values[Int.random(in: values.indices, using: &random)]
  }

  static func maybe<T>(
    _ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> T
  ) -> T? { Bool.random(using: &random) ? make(&random) : nil }

  static func list<T>(
    _ random: inout SeededGenerator, _ make: (inout SeededGenerator) -> T
  ) -> [T] { (0..<Int.random(in: 0...4, using: &random)).map { _ in make(&random) } }

  static func number<T: FixedWidthInteger>(_ random: inout SeededGenerator) -> T {
    pick([0, 1, 3, .min, .max, T(truncatingIfNeeded: random.next())], &random)
  }

  static func real<T: BinaryFloatingPoint>(_ random: inout SeededGenerator) -> T {
    // NaN is not equal to itself and has a test of its own.
    pick(
      [
        0, -0.0, -0.5, 1, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
        T(Float(bitPattern: 0x3F00_0001)), T(Int16(truncatingIfNeeded: random.next())) / 7,
      ], &random)
  }

  static func decimal(_ random: inout SeededGenerator) -> Decimal {
    Decimal(Int64(truncatingIfNeeded: random.next()))
      * pick([1, Decimal(sign: .plus, exponent: -9, significand: 1), 1000], &random)
  }

  static func text(_ random: inout SeededGenerator) -> String {
    pick(
      [
        "", "a", "new title", "\0", "a\0b", "e\u{301}", "\u{E9}", "\u{FEFF}x", "'\"\\%_", "👩‍👩‍👧‍👦",
        "\u{10FFFF}", String(repeating: "long ", count: 3000), "\(random.next())",
      ], &random)
  }

  static func data(_ random: inout SeededGenerator) -> Data {
    pick([Data(), Data([0]), Data((0..<300).map { UInt8(truncatingIfNeeded: $0) })], &random)
  }

  static func date(_ random: inout SeededGenerator) -> Date {
    pick(
      [
        Date(timeIntervalSince1970: 0), .distantPast, .distantFuture,
        Date(timeIntervalSince1970: -1e9 - 0.1), Date(timeIntervalSinceReferenceDate: 0.1),
        Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000_007) / 977),
      ], &random)
  }

  static func url(_ random: inout SeededGenerator) -> URL {
    let base = URL(string: "https://example.org/a/")!
    return pick(
      [
        base, URL(string: "b?c=d#e", relativeTo: base)!, URL(string: "x")!,
        URL(filePath: "/tmp/a b"),
      ], &random)
  }

  static func address(_ random: inout SeededGenerator) -> Address {
    Address(
      street: text(&random), city: pick(["Paris", text(&random)], &random),
      number: maybe(&random, number), tags: list(&random, text))
  }

  static func contents(_ random: inout SeededGenerator, depth: Int = 0) -> Contents {
    switch Int.random(in: 0...(depth < 3 ? 3 : 2), using: &random) {
    case 0: .none
    case 1: .text(text(&random))
    case 2:
      .place(
        latitude: real(&random), longitude: real(&random), name: maybe(&random, text))
    default: .list(list(&random) { contents(&$0, depth: depth + 1) })
    }
  }
}

extension UUID {
  static func random(using random: inout SeededGenerator) -> UUID {
    let (a, b) = (random.next(), random.next())
    return withUnsafeBytes(of: (a, b)) { UUID(uuid: $0.load(as: uuid_t.self)) }
  }
}
