// The bytes of each type, as the format specifies.

import Foundation
import PackedSerialize
import Testing

enum Grade: UInt32, Serializable, Deserializable { case low = 1, high = 7 }
enum Suit: String, Serializable, Deserializable { case clubs, hearts }
struct Token: RawRepresentable, Serializable, Deserializable, Sendable, Equatable {
  var rawValue: Data
}
enum Bare: UInt8 { case one = 1 }
struct Point: Serializable, Deserializable, Equatable {
  var x: Int
  var y: Int
  var serializedSize: Int { x.serializedSize + y.serializedSize }
  func serialize(into buffer: inout UnsafeMutableRawBufferPointer) {
    x.serialize(into: &buffer)
    y.serialize(into: &buffer)
  }
  static func unpack(
    with deserializer: inout Deserializer
  ) throws(DeserializeError) -> sending Point {
    let x = try Int.unpack(with: &deserializer)
    return Point(x: x, y: try Int.unpack(with: &deserializer))
  }
}

struct BytesTests {
  /// Expects that a value has these bytes as a field, and is read back from them.
  private func check<T: Serializable & Deserializable & Equatable>(
    _ value: T, _ expected: String, location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(bytes(value) == hex(expected), sourceLocation: location)
    let (read, remaining) = try PackedSerializeTests.value(T.self, of: bytes(value) + [9, 9])
    #expect(read == value, sourceLocation: location)
    #expect(remaining == 2, sourceLocation: location)
  }

  @Test("Integers are big-endian; the sign bit of signed ones is flipped")
  func integers() throws {
    try check(0xAB as UInt8, "AB")
    try check(0xAB12 as UInt16, "AB 12")
    try check(0xAB12_CD34 as UInt32, "AB 12 CD 34")
    try check(0xAB12_CD34_0000_0001 as UInt64, "AB 12 CD 34 00 00 00 01")
    try check(7 as UInt, "00 00 00 00 00 00 00 07")
    try check(Int.min, "00 00 00 00 00 00 00 00")
    try check(-1, "7F FF FF FF FF FF FF FF")
    try check(0, "80 00 00 00 00 00 00 00")
    try check(Int.max, "FF FF FF FF FF FF FF FF")
    try check(-1 as Int64, "7F FF FF FF FF FF FF FF")
    try check(-128 as Int8, "00")
    try check(-1 as Int16, "7F FF")
    try check(5 as Int32, "80 00 00 05")
  }

  @Test("Floating-point numbers are read back bit for bit")
  func floatingPoint() throws {
    try check(1.0, "BF F0 00 00 00 00 00 00")
    try check(-1.0, "40 0F FF FF FF FF FF FF")
    try check(1.0 as Float, "BF 80 00 00")
    for number in [0.0, -0.0, .infinity, -.infinity, .leastNonzeroMagnitude, .nan] {
      #expect(try value(Double.self, of: bytes(number)).0.bitPattern == number.bitPattern)
    }
    #expect(keyBytes(-0.0) == keyBytes(0.0))
    #expect(throws: SerializeError.notANumber) { try Double.nan.validate(as: .key) }
    try Double.nan.validate(as: .field)
  }

  @Test("Strings end with a NUL and contain none")
  func strings() throws {
    try check("", "00")
    try check("Al", "41 6C 00")
    try check("né", "6E C3 A9 00")
    #expect(throws: SerializeError.nulInString) { try "a\0b".validate(as: .field) }
    #expect(throws: SerializeError.nulInString) { try Optional("\0").validate(as: .field) }
    #expect(throws: SerializeError.nulInString) { try ["", "\0"].validate(as: .field) }
    #expect(throws: SerializeError.nulInString) { try ["": "\0"].validate(as: .field) }
    #expect(throws: SerializeError.nulInString) { try Set(["\0"]).validate(as: .field) }
  }

  @Test("Dates are milliseconds, truncated toward zero")
  func dates() throws {
    try check(Date(timeIntervalSince1970: 0), "80 00 00 00 00 00 00 00")
    try check(Date(timeIntervalSince1970: 1.5), "80 00 00 00 00 00 05 DC")
    try check(Date(timeIntervalSince1970: -1.5), "7F FF FF FF FF FF FA 24")
    #expect(bytes(Date(timeIntervalSince1970: 0.0019)) == bytes(1 as Int64))
    #expect(bytes(Date(timeIntervalSince1970: -0.0019)) == bytes(-1 as Int64))
    for date in [Date.distantPast, .distantFuture] {
      #expect(try value(Date.self, of: bytes(date)).0 == date)
    }
    for seconds in [Double.nan, .infinity, -.infinity, 1e17, -1e17] {
      let date = Date(timeIntervalSince1970: seconds)
      #expect(throws: SerializeError.dateOutOfRange) { try date.validate(as: .key) }
      _ = bytes(date)  // does not trap
    }
  }

  @Test("Data has a count as a field and a terminator as a key")
  func data() throws {
    try check(Data([1, 0]), "00 00 00 00 00 00 00 02 01 00")
    try check(Data(), "00 00 00 00 00 00 00 00")
    for (content, expected) in [
      ([], "00 00"), ([1], "01 00 00"), ([0], "00 FF 00 00"),
      ([1, 0, 0, 2], "01 00 FF 00 FF 02 00 00"),
    ] as [([UInt8], String)] {
      let data = Data(content)
      #expect(keyBytes(data) == hex(expected))
      #expect(try keyValue(Data.self, of: keyBytes(data) + [9]) == (data, 1))
    }
    // A slice has indices of its own.
    #expect(keyBytes(Data([7, 1, 0])[1...]) == hex("01 00 FF 00 00"))
    #expect(keyBytes(Token(rawValue: Data([0]))) == hex("00 FF 00 00"))
    #expect(keyBytes(Optional(Data())) == hex("01 00 00"))
  }

  @Test("Composed types")
  func composed() throws {
    try check(true, "01")
    try check(Int?.none, "00")
    try check(Optional(1 as UInt8), "01 01")
    try check([1, 2] as [UInt8], "00 00 00 00 00 00 00 02 01 02")
    try check(["a": true], "00 00 00 00 00 00 00 01 61 00 01")
    try check(Set([3, 1, 2] as [UInt8]), "00 00 00 00 00 00 00 03 01 02 03")
    try check(Grade.high, "00 00 00 07")
    try check(Suit.clubs, "63 6C 75 62 73 00")
    try check(EmptyValue(), "")
    try check([EmptyValue(), EmptyValue()], "00 00 00 00 00 00 00 02")
    try check(Point(x: -1, y: 0), "7F FF FF FF FF FF FF FF 80 00 00 00 00 00 00 00")
    let id = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    try check(id, "00 11 22 33 44 55 66 77 88 99 AA BB CC DD EE FF")
    // Members without a conformance.
    #expect(Bare.one.serializedSize == 1)
    #expect(try withBytes([1]) { try Bare.unpack(with: &$0) } == .one)
  }

  private func withBytes<R>(
    _ bytes: [UInt8], _ body: (inout Deserializer) throws -> R
  ) throws -> R {
    try bytes.withUnsafeBytes { buffer in
      var deserializer = Deserializer(_unsafeBytes: buffer)
      return try body(&deserializer)
    }
  }

  @Test("A key writer rejects values that are invalid or too long, and writes nothing afterwards")
  func keyWriter() {
    #expect(keyWritten("a\0b", room: 9) == .failure(.refused(.nulInString)))
    #expect(keyWritten(Double.nan, room: 9) == .failure(.refused(.notANumber)))
    let never = Date(timeIntervalSince1970: .infinity)
    #expect(keyWritten(never, room: 9) == .failure(.refused(.dateOutOfRange)))
    #expect(keyWritten(Optional("\0"), room: 9) == .failure(.refused(.nulInString)))
    #expect(keyWritten(Suit.clubs, room: 5) == .failure(.tooLong))
    #expect(keyWritten(EmptyValue(), room: 0) == .success([]))
    // Every kind of value, with its own implementation and with the default one.
    #expect(keyBytes(Suit.clubs) == hex("63 6C 75 62 73 00"))
    #expect(keyBytes(Grade.high) == hex("00 00 00 07"))
    #expect(keyBytes(Token(rawValue: Data([0, 1]))) == hex("00 FF 01 00 00"))
    #expect(keyBytes(Point(x: -1, y: 0)) == hex("7F FF FF FF FF FF FF FF 80 00 00 00 00 00 00 00"))
    #expect(keyBytes(nil as String?) == hex("00"))
    #expect(keyBytes("é" as String?) == hex("01 C3 A9 00"))

    // The first failure is kept.
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 1)
    defer { room.deallocate() }
    room.initializeMemory(as: UInt8.self, repeating: 0xA5)
    var writer = KeyWriter(room)
    "a".serializeKey(to: &writer)
    "\0".serializeKey(to: &writer)
    (1 as UInt8).serializeKey(to: &writer)
    7.serializeKey(to: &writer)
    #expect(writer.failure == .refused(.nulInString))
    #expect(Array(room) == [0x61, 0, 0xA5, 0xA5])
    var none = KeyWriter(UnsafeMutableRawBufferPointer(start: nil, count: 0))
    true.serializeKey(to: &none)
    #expect(none.failure == .tooLong)
  }
}
