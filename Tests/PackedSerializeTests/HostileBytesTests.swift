// Invalid bytes: all of them are errors, and none makes the reader leave the buffer or allocate
// much memory.

import DflatTestSupport
import Foundation
import PackedSerialize
import Testing

struct HostileBytesTests {
  @Test("Each kind of damage has its own error")
  func errors() throws {
    func expect<T: Deserializable>(
      _ type: T.Type, _ bytes: String, _ error: DeserializeError,
      location: SourceLocation = #_sourceLocation
    ) {
      #expect(throws: error, sourceLocation: location) { try value(type, of: hex(bytes)).0 }
    }
    expect(UInt32.self, "01 02 03", .endOfBufferReached(4, 3))
    expect(Int.self, "", .endOfBufferReached(8, 0))
    expect(Bool.self, "02", .invalidValue)
    expect(Int?.self, "02", .invalidValue)
    expect(String.self, "", .invalidValue)
    expect(String.self, "41 42", .endOfBufferReached(3, 2))
    expect(String.self, "FF 00", .invalidValue)
    expect(Grade.self, "00 00 00 02", .invalidValue)
    expect(UUID.self, "00", .endOfBufferReached(16, 1))
    expect(Data.self, "00 00 00 00 00 00 00 02 01", .endOfBufferReached(10, 9))
    expect(Data.self, "80 00 00 00 00 00 00 00", .invalidLength)
    expect(Data.self, "7F FF FF FF FF FF FF FF", .endOfBufferReached(.max, 8))
    expect([UInt8].self, "7F FF FF FF FF FF FF FF 01", .endOfBufferReached(10, 9))
    expect([UInt8].self, "80 00 00 00 00 00 00 00", .endOfBufferReached(.max, 8))
    expect([String].self, "00 00 00 00 00 00 00 02 61 00", .endOfBufferReached(11, 10))
    expect(Set<UInt8>.self, "00 00 00 00 00 00 00 02 01 01", .invalidValue)
    expect([UInt8: Bool].self, "00 00 00 00 00 00 00 02 01 01 01 00", .invalidValue)
    // More elements without bytes than are allowed.
    #expect(throws: DeserializeError.endOfBufferReached(.max, 8)) {
      try value([EmptyValue].self, of: hex("7F FF FF FF FF FF FF FF"))
    }
    #expect(throws: SerializeError.tooManyEmptyElements(65_537)) {
      try [EmptyValue](repeating: EmptyValue(), count: 65_537).validate(as: .field)
    }
    #expect(throws: DeserializeError.invalidValue) { try keyValue(Data.self, of: hex("00 01")) }
    #expect(throws: DeserializeError.endOfBufferReached(2, 1)) {
      try keyValue(Data.self, of: hex("00"))
    }
  }

  @Test("Each of several strings is terminated, the last one inside the bytes")
  func severalStrings() throws {
    func read(_ bytes: String) throws -> [String] {
      let bytes = hex(bytes)
      return try bytes.withUnsafeBytes { buffer in
        var deserializer = Deserializer(_unsafeBytes: buffer)
        var strings: [String] = []
        for _ in 0..<3 { strings.append(try String.unpack(with: &deserializer)) }
        return strings
      }
    }
    #expect(try read("41 00 00 42 43 00") == ["A", "", "BC"])
    #expect(try read("41 00 00 42 00 FF") == ["A", "", "B"])
    #expect(throws: DeserializeError.endOfBufferReached(6, 5)) { try read("41 00 00 42 43") }
    #expect(throws: DeserializeError.invalidValue) { try read("41 00 42 00") }
    #expect(throws: DeserializeError.invalidValue) { try read("41 00 C3 00 42 00") }
    // Another value is between them.
    let bytes = hex("41 00 00 00 42 43")
    try bytes.withUnsafeBytes { buffer in
      var deserializer = Deserializer(_unsafeBytes: buffer)
      let first = try String.unpack(with: &deserializer)
      let between = try UInt16.unpack(with: &deserializer)
      #expect(first == "A" && between == 0)
      let last = Result { try String.unpack(with: &deserializer) }
      #expect(throws: DeserializeError.endOfBufferReached(7, 6)) { try last.get() }
    }
  }

  @Test("Loading and advancing check their bounds")
  func bounds() throws {
    let bytes: [UInt8] = [1, 2, 3]
    try bytes.withUnsafeBytes { buffer in
      var deserializer = Deserializer(_unsafeBytes: buffer)
      #expect(try deserializer.unsafeLoad(of: UInt8.self, sized: 1) == 1)
      let left = deserializer.rawSpan.byteCount
      #expect(left == 2)
      // Reading four bytes fails, whatever the size is.
      let small = Result { try deserializer.unsafeLoad(of: UInt32.self, sized: 1) }
      #expect(throws: DeserializeError.endOfBufferReached(5, 3)) { try small.get() }
      let negative = Result { try deserializer.advance(by: -1) }
      #expect(throws: DeserializeError.invalidLength) { try negative.get() }
      let far = Result { try deserializer.advance(by: .max) }
      #expect(throws: DeserializeError.endOfBufferReached(.max, 3)) { try far.get() }
      try deserializer.advance(by: 2)
      let rest = deserializer.rawSpan.byteCount
      #expect(rest == 0)
    }
  }

  /// Reads a value of every type and ignores the results.
  static func readEverything(_ bytes: [UInt8]) {
    func read<T: Deserializable>(_ type: T.Type) {
      _ = try? value(type, of: bytes)
      _ = try? keyValue(type, of: bytes)
    }
    read(String.self)
    read(Data.self)
    read(Bool.self)
    read(Int.self)
    read(UInt8.self)
    read(Double.self)
    read(Date.self)
    read(UUID.self)
    read([String].self)
    read([[UInt8]?].self)
    read(Set<String>.self)
    read([String: Data].self)
    read(Suit.self)
    read(Token?.self)
    read(Point.self)
  }

  @Test("Random and mutated bytes are read or rejected")
  func random() {
    withSeed { random in
      for _ in 0..<(isLongRun ? 200_000 : 3_000) {
        var bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
          random.oneIn(3) ? 0 : UInt8.random(in: 0...255, using: &random)
        }
        if random.oneIn(2) {
          // A plausible count in front.
          bytes = PackedSerializeTests.bytes(UInt(random.pick([0, 1, 2, 3, 8, 1 << 40]))) + bytes
        }
        Self.readEverything(bytes)
      }
    }
  }
}
