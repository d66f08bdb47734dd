// URLs, decimals, and Codable types that declare nothing but the conformance.

import Foundation
import PackedSerialize
import Testing

private struct Address: Equatable, JSONSerializable {
  var street = "a/b"
  var numbers: [Double] = [1.5, .infinity]
  var since = Date(timeIntervalSinceReferenceDate: 0.1)
  var next: [Address]?
}

/// Written as its raw value, as before it was `Codable`.
private enum Colour: String, Codable, Serializable, Deserializable { case clubs, hearts }

private enum Payload: Equatable, JSONSerializable {
  case none
  case text(String, count: Int)
}

/// Encodes what it does not decode.
private struct OneWay: JSONSerializable {
  var number: Int
  init(number: Int) { self.number = number }
  init(from decoder: any Decoder) throws { self.init(number: try Int(from: decoder)) }
  func encode(to encoder: any Encoder) throws { try "\(number)".encode(to: encoder) }
}

private struct Refusing: JSONSerializable {
  struct No: Error {}
  func encode(to encoder: any Encoder) throws { throw No() }
}

struct FoundationTypesTests {
  private func check<T: Serializable & Deserializable & Equatable>(
    _ value: T, _ expected: String? = nil, location: SourceLocation = #_sourceLocation
  ) throws {
    if let expected { #expect(bytes(value) == hex(expected), sourceLocation: location) }
    try value.validate(as: .field)
    let (read, remaining) = try PackedSerializeTests.value(T.self, of: bytes(value) + [9, 9])
    #expect(read == value, sourceLocation: location)
    #expect(remaining == 2, sourceLocation: location)
  }

  @Test("Decimals have one form each, which is the same as a key")
  func decimals() throws {
    try check(0 as Decimal, "02")
    try check(1 as Decimal, "03 80 01 0B 00")
    try check(-1 as Decimal, "01 7F FE F4 FF")
    try check(123.4 as Decimal, "03 80 03 0D 23 00")
    try check(Decimal(string: "0.0012")!, "03 7F FE 0D 00")
    try check(Decimal(string: "-0.0012")!, "01 80 01 F2 FF")
    #expect(bytes(Decimal(string: "1.00")!) == bytes(Decimal(1)))
    #expect(keyBytes(Decimal(string: "12.5")!) == bytes(Decimal(string: "12.5")!))
    for number in [
      Decimal.greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .pi,
      Decimal(string: "1E127")!, Decimal(string: "5000E127")!, Decimal(string: "1E-128")!,
      Decimal(UInt64.max) * Decimal(UInt64.max),
    ] { try check(number) }
    #expect(try value(Decimal.self, of: bytes(Decimal.nan)).0.isNaN)
    #expect(throws: SerializeError.notANumber) { try Decimal.nan.validate(as: .key) }
    #expect(keyWritten(Decimal.nan, room: 40) == .failure(.refused(.notANumber)))
  }

  @Test(
    "Bytes that no decimal is written as are refused",
    arguments: [
      "", "00", "05", "03", "03 80", "03 80 01", "03 80 01 0B", "03 80 01 00", "03 80 01 66 00",
      "03 80 01 01 0B 00", "03 80 01 0B 01 00", "03 FF FF 0B 00", "03 00 00 0B 00",
      "03 80 01" + String(repeating: " 0C", count: 40) + " 00",
    ])
  func hostileDecimals(text: String) {
    #expect(throws: DeserializeError.self) { try value(Decimal.self, of: hex(text)) }
  }

  @Test("URLs come back equal, with their bases")
  func urls() throws {
    try check(URL(string: "https://a.b/c?d=%20#e")!)
    #expect(bytes(URL(string: "a:b")!) == hex("61 3A 62 00"))
    let base = URL(string: "https://example.org/a/")!
    try check(base)
    try check(URL(string: "b/c", relativeTo: base)!)
    try check(URL(string: "d", relativeTo: URL(string: "b/", relativeTo: base)!)!)
    try check(URL(filePath: "/a b/ü"))
    try check([URL(string: "a")!, base])
    try check(Optional(base))
    #expect(throws: DeserializeError.self) { try value(URL.self, of: hex("61")) }
    #expect(throws: DeserializeError.invalidValue) { try value(URL.self, of: hex("00")) }
  }

  @Test("A Codable type is written as JSON with sorted keys, and a count")
  func codable() throws {
    let address = Address(next: [Address(numbers: [], next: nil)])
    try check(address)
    try check([address])
    try check(Payload.text("a\0b", count: 2))
    try check(Payload.none)
    let text = #"{"numbers":[1.5,"inf"],"since":0.1,"street":"a/b"}"#
    #expect(bytes(Address()) == [0, 0, 0, 0, 0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8))
    #expect(throws: DeserializeError.invalidValue) {
      try value(Address.self, of: bytes(Data("{}".utf8)))
    }
  }

  @Test("A Codable type with a raw value is written as the raw value")
  func rawValues() throws {
    try check(Colour.hearts, "68 65 61 72 74 73 00")
    #expect(keyBytes(Colour.hearts) == bytes("hearts"))
    #expect(throws: DeserializeError.invalidValue) { try value(Colour.self, of: bytes("spades")) }
  }

  @Test("A value that cannot be encoded, or not decoded again, is refused with the reason")
  func notCodable() throws {
    func reason(_ body: () throws(SerializeError) -> Void) -> String {
      do { try body() } catch {
        if case .notCodable(let reason) = error.reason { return reason }
      }
      return "nothing"
    }
    #expect(
      reason { () throws(SerializeError) in try OneWay(number: 1).validate(as: .field) }.contains(
        "Int"))
    #expect(
      reason { () throws(SerializeError) in try [Refusing()].validate(as: .field) }.contains("No"))
  }
}
