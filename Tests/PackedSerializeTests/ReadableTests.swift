// What `validate(as:)` accepts can be read, in any nesting, also if values become equal when they
// are stored.

import DflatTestSupport
import Foundation
import PackedSerialize
import Testing

/// Keeps one of its two numbers.
private struct Lossy: Hashable, JSONSerializable {
  var kept: Int
  var lost = 0
  enum CodingKeys: CodingKey { case kept }
}

/// Raw values that differ make equal values.
private struct Lower: Hashable, RawRepresentable, Serializable, Deserializable, Sendable {
  var rawValue: String
  init(rawValue: String) { self.rawValue = rawValue.lowercased() }
}

/// May have a raw value that its initializer refuses.
private struct Percent: Hashable, RawRepresentable, Serializable, Deserializable, Sendable {
  var rawValue: Int
  init?(rawValue: Int) {
    guard 0...100 ~= rawValue else { return nil }
    self.rawValue = rawValue
  }
  init(unchecked number: Int) { rawValue = number }
}

/// Has a value that its initializer refuses, and reads it.
private enum Slug: Hashable, RawRepresentable, Serializable, Deserializable, Sendable {
  case text(String)
  case none

  init?(rawValue: String) {
    if rawValue.isEmpty { return nil }
    self = .text(rawValue)
  }

  var rawValue: String { if case .text(let text) = self { text } else { "" } }

  static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Slug {
    Slug(rawValue: try String.unpack(with: &deserializer)) ?? Slug.none
  }

  static func unpackKey(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Slug {
    try unpack(with: &deserializer)
  }
}

/// Leaves the check to the default.
private struct Box<Value: Serializable & Deserializable & Hashable>: Hashable, Serializable,
  Deserializable
{
  var value: Value
  var serializedSize: Int { value.serializedSize }
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    value.serialize(into: &buffer)
  }
  static func unpack(with deserializer: inout Deserializer) throws(DeserializeError) -> sending Box
  { Box(value: try Value.unpack(with: &deserializer)) }
}

/// Values without bytes.
private struct Blank: Hashable, Serializable, Deserializable {
  var number = 0
  var serializedSize: Int { 0 }
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {}
  static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Blank { Blank() }
}

struct ReadableTests {
  private static let moment = Date(timeIntervalSince1970: 1_700_000_000.1231)
  private static let next = moment.addingTimeInterval(0.0001)
  private static let stored = Date(timeIntervalSince1970: 1_700_000_000.123)

  private func readBack<T: Serializable & Deserializable>(_ written: T) throws -> T {
    try written.validate(as: .field)
    let (read, remaining) = try value(T.self, of: bytes(written))
    #expect(remaining == 0)
    return read
  }

  @Test("Elements of a set that become equal when they are stored are read as one")
  func sets() throws {
    let pair: Set = [Self.moment, Self.next]
    #expect(bytes(pair).count == 24)
    #expect(try readBack(pair).map { bytes($0) } == [bytes(Self.stored)])
    #expect(try readBack(Set(pair.map(Optional.some)).union([nil])).count == 2)
    #expect(try readBack(Set([[Self.moment], [Self.next], []])).count == 2)
    #expect(try readBack([pair, []]).map(\.count) == [1, 0])
    #expect(try readBack(Set([[Self.moment], [Self.next]] as [Set<Date>])).count == 1)
    #expect(try readBack(["a": pair])["a"]?.count == 1)
    #expect(try readBack(Box(value: pair)).value.count == 1)
    #expect(try readBack(Set([Lossy(kept: 1), Lossy(kept: 1, lost: 2)])) == [Lossy(kept: 1)])
    var upper = Lower(rawValue: "")
    upper.rawValue = "A"
    #expect(try readBack(Set([upper, Lower(rawValue: "a")])) == [Lower(rawValue: "a")])
    // Not a number is not equal to itself.
    #expect(try readBack(Set([Double.nan, .nan])).count == 2)
  }

  @Test("A dictionary whose keys become equal is refused, because a value would be lost")
  func dictionaries() throws {
    let pair = [Self.moment: 1, Self.next: 2]
    func refuses(
      _ value: some Serializable, _ error: SerializeError = .equalKeys,
      location: SourceLocation = #_sourceLocation
    ) {
      #expect(throws: error, sourceLocation: location) { try value.validate(as: .field) }
    }
    refuses(pair)
    refuses([Self.moment: Self.moment, Self.next: Self.moment])
    refuses([pair])
    refuses(["a": pair] as [String: [Date: Int]]?)
    refuses(Set([pair]))
    refuses([Set([Self.moment]): 1, Set([Self.next]): 2])
    refuses([Lossy(kept: 1): 1, Lossy(kept: 1, lost: 2): 1])
    refuses(Box(value: pair), .unreadable)
    refuses([Box(value: [Self.moment: 1, Self.next: 2])], .unreadable)
    let apart = [Self.moment: 1, Self.moment.addingTimeInterval(0.001): 2]
    #expect(try readBack(apart).values.sorted() == [1, 2])
    #expect(try readBack([Double.nan: 1, .nan: 2]).count == 2)
  }

  @Test("A dictionary that was stored with equal keys is read, with one of the values")
  func storedDictionaries() throws {
    let pair = [Self.moment: "a", Self.next: "b"]
    let (read, remaining) = try value([Date: String].self, of: bytes(pair))
    #expect(remaining == 0)
    #expect(read == [Self.stored: "a"] || read == [Self.stored: "b"])
    let (nested, _) = try value([String: [Date: String]]?.self, of: bytes(Optional(["x": pair])))
    #expect(nested?["x"]?.count == 1)
  }

  @Test("Elements without bytes are counted in every collection")
  func empty() throws {
    let most = (0..<65_536).map { Blank(number: $0) }
    let more = most + [Blank(number: -1)]
    #expect(try readBack(most).count == 65_536)
    #expect(try readBack(Set(most)).count == 1)
    func dictionary(_ keys: [Blank]) -> [Blank: EmptyValue] {
      Dictionary(uniqueKeysWithValues: keys.map { ($0, EmptyValue()) })
    }
    #expect(throws: SerializeError.equalKeys) { try dictionary(most).validate(as: .field) }
    let error = SerializeError.tooManyEmptyElements(65_537)
    #expect(throws: error) { try more.validate(as: .field) }
    #expect(throws: error) { try Set(more).validate(as: .field) }
    #expect(throws: error) { try dictionary(more).validate(as: .field) }
  }

  @Test("A raw value that the type's initializer refuses is not stored")
  func rawValues() throws {
    let call = "Percent(rawValue: 101)"
    for form in [SerializedForm.field, .key] {
      try Percent(rawValue: 100)?.validate(as: form)
      #expect(throws: SerializeError.refusedRawValue(call)) {
        try Percent(unchecked: 101).validate(as: form)
      }
      #expect(throws: SerializeError.refusedRawValue(call)) {
        try [Percent(unchecked: 101)].validate(as: form)
      }
    }
    #expect(
      keyWritten(Percent(unchecked: 101), room: 20) == .failure(.refused(.refusedRawValue(call))))
    #expect(keyWritten(Percent(rawValue: 3), room: 20) == .success(bytes(true) + bytes(3)))
    #expect(throws: SerializeError.unreadable) {
      try Box(value: Percent(unchecked: -1)).validate(as: .field)
    }
    for slug in [Slug.text("a"), .none] {
      try slug.validate(as: .field)
      try slug.validate(as: .key)
      #expect(keyWritten(slug, room: 20) == .success(keyBytes(slug)))
    }
  }

  private typealias Value = Serializable & Deserializable & Hashable

  /// Checks random values of a type, and of types that contain it.
  private func check<T: Value>(
    _ type: T.Type, _ random: inout SeededGenerator, depth: Int,
    _ make: (inout SeededGenerator) -> T
  ) throws {
    for _ in 0..<(isLongRun ? 60 : 4) {
      let written = make(&random)
      for form in [SerializedForm.field, .key] {
        do { try written.validate(as: form) } catch { continue }
        let stored = form == .field ? bytes(written) : keyBytes(written)
        let read = Result { try form == .field ? value(T.self, of: stored) : keyValue(of: stored) }
        let isSame = try? read.map { read in
          read.remaining == 0 && (read.0 == written || !T.keepsValuesDistinct)
        }.get()
        guard isSame == true, let read = try? read.get().0 else {
          Issue.record("\(T.self): \(written) as \(form): \(read), DFLAT_SEED=\(random.seed)")
          return
        }
        // What was read can be stored again, and is then read as itself.
        try read.validate(as: form)
        let again = form == .field ? bytes(read) : keyBytes(read)
        let (second, _) = try form == .field ? value(T.self, of: again) : keyValue(of: again)
        if second != read {
          Issue.record("\(T.self): \(read) became \(second), DFLAT_SEED=\(random.seed)")
        }
      }
    }
    if depth == 0 { return }
    func list(_ random: inout SeededGenerator) -> [T] {
      (0..<Int.random(in: 0...3, using: &random)).map { _ in make(&random) }
    }
    try check([T].self, &random, depth: depth - 1) { list(&$0) }
    try check(T?.self, &random, depth: depth - 1) { $0.oneIn(3) ? nil : make(&$0) }
    try check(Set<T>.self, &random, depth: depth - 1) { Set(list(&$0)) }
    try check(Box<T>.self, &random, depth: depth - 1) { Box(value: make(&$0)) }
    try check([T: Int].self, &random, depth: depth - 1) { random in
      Dictionary(list(&random).map { ($0, random.pick([1, 2])) }) { $1 }
    }
    try check([Int: T].self, &random, depth: depth - 1) { random in
      Dictionary(list(&random).map { (random.pick([1, 2]), $0) }) { $1 }
    }
  }

  @Test("What is accepted is read, in any nesting")
  func anyNesting() throws {
    try withSeed { random in
      let depth = isLongRun ? 3 : 2
      try check(Date.self, &random, depth: depth) {
        $0.oneIn(9)
          ? Date(timeIntervalSince1970: $0.pick([.nan, .infinity, 9.3e15, 9.2e15, -1e12]))
          : Self.moment.addingTimeInterval(Double(Int.random(in: 0...40, using: &$0)) / 10_000)
      }
      try check(String.self, &random, depth: depth) {
        $0.pick(["", "a", "b", "\0", "a\0b", "é", "e\u{301}"])
      }
      try check(Percent.self, &random, depth: depth) {
        Percent(unchecked: Int.random(in: -1...101, using: &$0))
      }
      try check(Lower.self, &random, depth: depth) {
        var lower = Lower(rawValue: "")
        lower.rawValue = $0.pick(["a", "A", "b", "\0"])
        return lower
      }
      try check(Lossy.self, &random, depth: 1) {
        Lossy(kept: $0.pick([1, 2]), lost: $0.pick([1, 2]))
      }
      try check(Decimal.self, &random, depth: 1) {
        let exponent = Int.random(in: -127...127, using: &$0)
        let significand = Decimal(UInt64.random(in: 0...UInt64.max, using: &$0))
        return Decimal(
          sign: $0.pick([.plus, .minus]), exponent: exponent, significand: significand)
      }
      try check(Data.self, &random, depth: depth) { Data([$0.pick([0, 1, 255]), 0]) }
      try check(UInt8.self, &random, depth: depth) { $0.pick([0, 1, 255]) }
      try check(Suit.self, &random, depth: depth) { $0.pick([.clubs, .hearts]) }
      try check(Blank.self, &random, depth: depth) { Blank(number: $0.pick([1, 2])) }
      try check(EmptyValue.self, &random, depth: depth) { _ in EmptyValue() }
    }
  }
}
