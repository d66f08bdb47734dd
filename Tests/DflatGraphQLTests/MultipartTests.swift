// Bodies of several parts, in the forms that servers and RFC 2046 allow.

import DflatGraphQL
import Foundation
import Testing

@Suite("GraphQL: bodies of several parts")
struct MultipartTests {
  /// The bodies of all parts, and whether the response was complete.
  private func parts(
    _ text: String, _ contentType: String = "multipart/mixed", every size: Int = .max
  ) throws -> [String] {
    var parser = try GraphQLMultipartParser(contentType: contentType)
    var parts: [String] = []
    for piece in Chunks(text, every: size).pieces {
      parts += try parser.append(piece).map { String(decoding: $0.body, as: UTF8.self) }
    }
    try parser.finish()
    return parts
  }

  /// Bodies with their types, and the parts that they have.
  static let bodies: [(type: String, text: String, parts: [String])] = [
    ("multipart/mixed", "\r\n---\r\nContent-Type: a/b\r\n\r\n{}\r\n-----\r\n", ["{}"]),
    (
      "multipart/mixed; boundary=x",
      "--x\r\n\r\none\r\n--x\r\n\r\ntwo\r\n--x--", ["one", "two"]
    ),
    (
      "Multipart/Mixed;deferSpec=20220824 ; Boundary = \"a b\\\"c\"; charset=utf-8",
      "--a b\"c\r\nContent-Type: application/json\r\n\r\n1\r\n--a b\"c--\r\n", ["1"]
    ),
    (
      "multipart/mixed; boundary=x",
      "To be ignored.\r\n--xy\r\nas well\r\n--x  \t\r\n\r\none\r\n--x--\r\nand this\r\n--x\r\n\r\nno",
      ["one"]
    ),
    ("multipart/mixed; boundary=x", "\n--x\nA: b\n\none\ntwo\n--x\n\n\n--x--\n", ["one\ntwo", ""]),
    (
      "multipart/mixed; boundary=x",
      "--x\r\n\r\none\r\n --x\r\n--x1\r\n-x\r\n\r\n--x\r\n\r\n--x--\r\n",
      ["one\r\n --x\r\n--x1\r\n-x\r\n", ""]
    ),
    ("multipart/mixed; boundary=x", "--x\r\n--x\r\n\r\n\r\n--x--", ["", ""]),
    ("multipart/mixed; boundary=x", "--x\r\n{\"a\": 1}\r\n--x--", ["{\"a\": 1}"]),
    ("multipart/mixed; boundary=x", "--x--", []),
  ]

  @Test("are divided at their delimiters, however the bytes arrive", arguments: bodies.indices)
  func division(index: Int) throws {
    let (type, text, expected) = Self.bodies[index]
    for size in 1...max(text.utf8.count, 1) {
      #expect(try parts(text, type, every: size) == expected, "\(size) bytes at a time")
    }
    for place in 0...text.utf8.count {
      var parser = try GraphQLMultipartParser(contentType: type)
      let found = try Chunks(text, splitAt: place).pieces.flatMap { try parser.append($0) }
      try parser.finish()
      #expect(
        found.map { String(decoding: $0.body, as: UTF8.self) } == expected, "divided at \(place)")
    }
  }

  @Test("have header fields in every part")
  func headers() throws {
    var parser = GraphQLMultipartParser(boundary: "x")
    let text =
      "--x\r\nContent-Type:  application/json; charset=utf-8 \r\nX-A:b:c\r\n\r\n{}\r\n--x--"
    let part = try #require(try parser.append(text.utf8).first)
    #expect(
      part.headers == ["content-type": "application/json; charset=utf-8", "x-a": "b:c"])
    #expect(part == .init(headers: part.headers, body: Data("{}".utf8)))
  }

  @Test("that end too soon, are too large, or have one part are errors")
  func errors() throws {
    for text in ["", "--x", "--x\r\n\r\none", "--x\r\n\r\none\r\n--x\r\n", "--x-"] {
      #expect(throws: GraphQLTransportError.interrupted, "\(text)") {
        try parts(text, "multipart/mixed; boundary=x")
      }
    }
    #expect(throws: GraphQLTransportError.notMultipart("application/json")) {
      try parts("{}", "application/json")
    }
    var parser = GraphQLMultipartParser(boundary: "x", partLimit: 20)
    #expect(try parser.append("--x\r\n\r\none\r\n--x\r\n\r\ntwo and".utf8).count == 1)
    #expect(throws: GraphQLTransportError.partTooLarge(limit: 20)) {
      try parser.append(" more than twenty bytes".utf8)
    }
  }

  @Test("cost time in proportion to their length")
  func cost() throws {
    var parser = GraphQLMultipartParser(boundary: "x")
    _ = try parser.append("--x\r\n\r\n".utf8)
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 4096)
    for _ in 0..<4096 { _ = try parser.append(piece) }
    #expect(try parser.append("\r\n--x--".utf8).first?.body.count == 1 << 24)
    // What may be a delimiter until its line ends.
    for byte in " \t\r".utf8 {
      var parser = GraphQLMultipartParser(boundary: "x")
      _ = try parser.append("--x\r\n\r\n\r\n--x".utf8)
      let piece = [UInt8](repeating: byte, count: 512)
      for _ in 0..<4096 { #expect(try parser.append(piece).isEmpty) }
      #expect(try parser.append("\r\n--x--".utf8).first?.body.count == 2_097_157)
    }
  }

  @Test("may have blanks behind their delimiters, up to a limit")
  func padding() throws {
    for count in [0, 1, 1024, 1025, 2000] {
      let text = "--x\r\n\r\na\r\n--x" + String(repeating: " ", count: count) + "\r\n\r\nb\r\n--x--"
      for size in [1, 1023, 1024, 1025, 1026, .max] {
        #expect(
          try parts(text, "multipart/mixed; boundary=x", every: size).count
            == (count <= 1024 ? 2 : 1), "\(count) blanks, \(size) bytes at a time")
      }
    }
  }
}
