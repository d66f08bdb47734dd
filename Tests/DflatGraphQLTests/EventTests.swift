// Server-sent events, in the forms that the HTML standard allows.

import DflatGraphQL
import Foundation
import Testing

@Suite("GraphQL: server-sent events")
struct EventTests {
  static let streams: [(text: String, events: [GraphQLServerEvent])] = [
    ("data: a\n\n", [.init(data: "a")]),
    ("event: next\r\ndata: a\r\ndata:b\r\n\r\n", [.init(name: "next", data: "a\nb")]),
    ("event:next\rdata: a\r\rdata: b\r\r", [.init(name: "next", data: "a"), .init(data: "b")]),
    ("\u{FEFF}data: ä\n\n", [.init(data: "ä")]),
    (
      ": on\n\n:\n\nevent: x\n\ndata\n\ndata:  b\nid: 7\nretry: 9\nother: x\n\ndata: c\n\n",
      [.init(data: ""), .init(data: " b", id: "7"), .init(data: "c", id: "7")]
    ),
    ("data: a\n\ndata: not ended\n", [.init(data: "a")]),
  ]

  @Test("are divided at empty lines, however the bytes arrive", arguments: streams.indices)
  func division(index: Int) throws {
    let (text, expected) = Self.streams[index]
    for size in 1...text.utf8.count {
      var parser = GraphQLEventParser()
      let events = try Chunks(text, every: size).pieces.flatMap { try parser.append($0) }
      #expect(events == expected, "\(size) bytes at a time")
    }
  }

  @Test("are responses until the operation is complete")
  func responses() async throws {
    let stream = """
      :

      event: next
      data: {"data": {"a": 1}}

      event: other
      data: ?

      event: next
      data: {"data": null,
      data:  "errors": [{"message": "m"}]}

      event: complete

      event: complete
      data:

      event: next
      data: {"data": {"a": 9}}


      """
    for size in [1, 5, .max] {
      let responses = try await AnyQuery.responses(fromEvents: Chunks(stream, every: size)).all()
      #expect(
        responses == [
          .init(data: .object(["a": .int(1)])), .init(data: nil, errors: [.init(message: "m")]),
        ])
    }
  }

  @Test("end with an event that has no data, as services send it")
  func completeWithoutData() async throws {
    let stream = """
      event: next
      data: {"data": {"a": 1}}

      event: complete

      event: next
      data: {"data": {"a": 9}}


      """
    for size in [1, 5, .max] {
      let responses = try await AnyQuery.responses(fromEvents: Chunks(stream, every: size)).all()
      #expect(responses == [.init(data: .object(["a": .int(1)]))])
    }
    // It names no operation of several.
    let named =
      stream.replacing(
        "{\"data\": {\"a\": 9}}", with: "{\"id\": \"1\", \"payload\": {\"data\": {\"a\": 9}}}")
      + "event: complete\ndata: {\"id\": \"1\"}\n\n"
    let one = try await AnyQuery.responses(fromEvents: Chunks(named), id: "1").all()
    #expect(one.map(\.data) == [.object(["a": .int(9)])])
  }

  @Test("of one connection for several operations are told apart by ids")
  func singleConnection() async throws {
    let stream = """
      event: next
      data: {"id": "1", "payload": {"data": {"a": 1}}}

      event: next
      data: {"id": "2", "payload": {"data": {"a": 2}}}

      event: complete
      data: {"id": "1"}

      event: next
      data: {"id": "2", "payload": {"data": {"a": 3}}}

      event: complete
      data: {"id": "2"}


      """
    let first = try await AnyQuery.responses(fromEvents: Chunks(stream), id: "1").all()
    #expect(first.map(\.data) == [.object(["a": .int(1)])])
    let second = try await AnyQuery.responses(fromEvents: Chunks(stream, every: 2), id: "2").all()
    #expect(second.map(\.data) == [.object(["a": .int(2)]), .object(["a": .int(3)])])
  }

  @Test("without a name are errors, since the protocol has none; empty ones are passed over")
  func unnamed() async throws {
    let stream = "data\n\ndata: {\"data\": {}}\n\nevent: complete\n\n"
    for id in [nil, "1"] {
      var responses = AnyQuery.responses(fromEvents: Chunks(stream), id: id).makeAsyncIterator()
      await #expect(
        throws: GraphQLTransportError.unexpectedMessage(
          "an event without a name, in place of 'event: next': {\"data\": {}}")
      ) { try await responses.next() }
      #expect(try await responses.next() == nil)
    }
  }

  @Test("that stop without an end, are malformed or too large are errors")
  func errors() async throws {
    await #expect(throws: GraphQLTransportError.interrupted) {
      try await AnyQuery.responses(fromEvents: Chunks("event: next\ndata: {\"data\": {}}\n\n"))
        .all()
    }
    await #expect(throws: GraphQLError(message: "cut")) {
      try await AnyQuery.responses(fromEvents: Chunks("", error: GraphQLError(message: "cut")))
        .all()
    }
    await #expect(throws: GraphQLDecodingError.self) {
      try await AnyQuery.responses(fromEvents: Chunks("event: next\ndata: {\n\n")).all()
    }
    var parser = GraphQLEventParser(eventLimit: 10)
    #expect(throws: GraphQLTransportError.partTooLarge(limit: 10)) {
      try parser.append("data: 0123456789".utf8)
    }
  }
}
