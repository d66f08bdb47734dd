// Responses in several payloads, in the three forms that servers send.

import DflatGraphQL
import Foundation
import Testing

@Suite("GraphQL: incremental delivery")
struct IncrementTests {
  /// What is known after each payload.
  private func increments(_ payloads: [String]) throws -> [GraphQLIncrement<GraphQLValue>] {
    var decoder = GraphQLIncrementDecoder<GraphQLValue>()
    return try payloads.compactMap { try decoder.decode(Data($0.utf8)) }
  }

  static let everyForm = [
    "one path in a payload": [
      #"{"data": {"hero": {"id": "1", "friends": [{"id": "2"}]}}, "hasNext": true}"#,
      #"{"label": "n", "path": ["hero"], "data": {"name": "R2"}, "hasNext": true}"#,
      #"{"path": ["hero", "friends", 1], "items": [{"id": "3"}, null], "hasNext": true}"#,
      #"{"path": ["hero", "friends", 0], "data": {"name": "Leia"}, "hasNext": false}"#,
    ],
    "a list of paths": [
      #"{"data": {"hero": {"id": "1", "friends": [{"id": "2"}]}}, "hasNext": true}"#,
      #"{"incremental": [{"label": "n", "path": ["hero"], "data": {"name": "R2"}}], "hasNext": true}"#,
      #"""
      {"incremental": [{"path": ["hero", "friends", 1], "items": [{"id": "3"}, null]}],
       "hasNext": true}
      """#,
      #"{"incremental": [{"path": ["hero", "friends", 0], "data": {"name": "Leia"}}], "hasNext": false}"#,
    ],
    "ids of pending places": [
      #"""
      {"data": {"hero": {"id": "1", "friends": [{"id": "2"}]}}, "hasNext": true,
       "pending": [{"id": "0", "path": ["hero"], "label": "n"}, {"id": "1", "path": ["hero", "friends"]}]}
      """#,
      #"""
      {"incremental": [{"id": "0", "data": {"name": "R2"}}], "completed": [{"id": "0"}],
       "hasNext": true}
      """#,
      #"""
      {"pending": [{"id": "2", "path": ["hero"]}], "hasNext": true,
       "incremental": [{"id": "1", "items": [{"id": "3"}, null]}], "completed": [{"id": "1"}]}
      """#,
      #"""
      {"incremental": [{"id": "2", "subPath": ["friends", 0], "data": {"name": "Leia"}}],
       "completed": [{"id": "2"}], "hasNext": false}
      """#,
    ],
  ]

  @Test("puts payloads of each form together", arguments: everyForm.keys.sorted())
  func forms(form: String) throws {
    let increments = try increments(["{}"] + (Self.everyForm[form] ?? []))
    let data = increments.map(\.response.data)
    #expect(increments.map(\.hasNext) == [true, true, true, false])
    #expect(data.count == 4)
    #expect(data[0] == (try value(#"{"hero": {"id": "1", "friends": [{"id": "2"}]}}"#)))
    #expect(
      data[1] == (try value(#"{"hero": {"id": "1", "name": "R2", "friends": [{"id": "2"}]}}"#)))
    #expect(
      data[3]
        == (try value(
          #"""
          {"hero": {"id": "1", "name": "R2",
           "friends": [{"id": "2", "name": "Leia"}, {"id": "3"}, null]}}
          """#)))
    #expect(increments[0].deliveries == nil)
    #expect(
      increments[1].deliveries == [GraphQLDelivery(path: ["hero"], label: "n", keys: ["name"])])
    #expect(
      increments[2].deliveries == [GraphQLDelivery(path: ["hero", "friends"], elements: 1..<3)])
    #expect(
      increments[3].deliveries
        == [GraphQLDelivery(path: ["hero", "friends", 0], keys: ["name"])])
  }

  @Test(
    "comes as a body of several parts, with empty ones between", arguments: everyForm.keys.sorted())
  func bodies(form: String) async throws {
    let payloads = Self.everyForm[form] ?? []
    let body =
      payloads.map { "\r\n---\r\nContent-Type: application/json\r\n\r\n\($0)" }
      .joined(separator: "\r\n---\r\n\r\n{}") + "\r\n-----\r\n"
    let expected = try increments(payloads)
    for size in [1, 2, 7, 64, .max] {
      let found = try await AnyQuery.increments(
        from: Chunks(body, every: size),
        contentType: "multipart/mixed; boundary=\"-\"; deferSpec=20220824"
      ).all()
      // Payloads that come in one piece are one increment.
      #expect(size == .max ? found == [together(expected)] : found == expected, "\(size)")
    }
    // The last payload ends the response, whatever follows.
    let cut = String(body.dropLast(7))
    let found = try await AnyQuery.increments(
      from: Chunks(cut + "\r\n---\r\n"), contentType: "multipart/mixed; boundary=-"
    ).all()
    #expect(found == [together(expected)])
  }

  /// One increment with everything that some have.
  private func together(
    _ increments: [GraphQLIncrement<GraphQLValue>]
  ) -> GraphQLIncrement<GraphQLValue> {
    let deliveries = increments.compactMap(\.deliveries)
    return GraphQLIncrement(
      response: increments.last?.response ?? GraphQLResponse(data: nil),
      deliveries: deliveries.count < increments.count ? nil : deliveries.flatMap { $0 },
      hasNext: increments.last?.hasNext ?? false)
  }

  @Test("has one increment for all payloads of a piece, and loses none before a mistake")
  func pieces() async throws {
    let payloads = Self.everyForm["a list of paths"] ?? []
    let expected = try increments(payloads)
    func body(_ payloads: ArraySlice<String>) -> String {
      payloads.map { "\r\n---\r\n\r\n\($0)" }.joined()
    }
    func found(
      _ first: String, _ second: String, until count: Int = .max
    ) async throws -> [GraphQLIncrement<GraphQLValue>] {
      var iterator = AnyQuery.increments(
        from: Chunks(first + second, splitAt: first.utf8.count),
        contentType: "multipart/mixed; boundary=-"
      ).makeAsyncIterator()
      var found: [GraphQLIncrement<GraphQLValue>] = []
      while found.count < count, let increment = try await iterator.next() {
        found.append(increment)
      }
      if count < .max {
        await #expect(throws: GraphQLDecodingError.self) { try await iterator.next() }
      }
      return found
    }
    let (first, rest) = ("\(body(payloads[..<1]))\r\n---\r\n\r\n", "\(payloads[1])")
    let others = body(payloads[2...]) + "\r\n-----"
    #expect(
      try await found(first, rest + others) == [expected[0], together(Array(expected[1...]))])
    #expect(
      try await found(first, rest + body(["[]"]) + others, until: 2) == Array(expected[..<2]))
  }

  @Test("may have an element of a streamed list as its data, in the oldest form")
  func streamedElements() throws {
    let increments = try increments([
      #"{"data": {"names": ["a"], "rows": []}, "hasNext": true}"#,
      #"{"path": ["names", 1], "data": "b", "hasNext": true}"#,
      #"{"path": ["names", 2], "data": null, "hasNext": true}"#,
      #"{"path": ["rows", 0], "data": {"x": 1}, "hasNext": true}"#,
      #"{"path": ["rows", 0], "data": {"y": [2]}, "hasNext": false}"#,
    ])
    #expect(
      increments.last?.response.data
        == (try value(#"{"names": ["a", "b", null], "rows": [{"x": 1, "y": [2]}]}"#)))
    #expect(
      increments.dropFirst().map(\.deliveries) == [
        [.init(path: ["names"], elements: 1..<2)], [.init(path: ["names"], elements: 2..<3)],
        [.init(path: ["rows"], elements: 0..<1)], [.init(path: ["rows", 0], keys: ["y"])],
      ])
    #expect(throws: GraphQLTransportError.unknownPlace("\"names[2]\"")) {
      try self.increments([
        #"{"data": {"names": ["a"]}, "hasNext": true}"#, #"{"path": ["names", 2], "data": "c"}"#,
      ])
    }
  }

  @Test("brings what is new in a fragment, at any depth, and not what has come before")
  func deliveries() throws {
    let increments = try increments([
      #"""
      {"data": {"hero": {"id": "1", "name": "n", "tags": ["a"], "item": {"a": 1}, "link": null,
        "friends": [{"id": "2"}, null]}}, "hasNext": true}
      """#,
      #"""
      {"path": ["hero"], "label": "l", "hasNext": true, "data": {"name": "n", "tags": ["a"], "item": {"a": 1, "b": 2},
        "link": {"id": "3"}, "bio": null, "friends": [{"name": "x"}, null, {"name": "y"}]}}
      """#,
      #"{"path": ["hero"], "data": {"name": "n"}, "hasNext": true}"#,
      #"{"path": ["hero"], "data": {"name": "m", "tags": ["b", "c"]}, "hasNext": false}"#,
    ])
    #expect(
      increments[1].deliveries == [
        .init(path: ["hero"], label: "l", keys: ["link", "bio"]),
        .init(path: ["hero", "friends"], label: "l", elements: 2..<3),
        .init(path: ["hero", "friends", 0], label: "l", keys: ["name"]),
        .init(path: ["hero", "item"], label: "l", keys: ["b"]),
      ])
    #expect(increments[2].deliveries == [.init(path: ["hero"], keys: [])])
    #expect(
      increments[3].deliveries == [
        .init(path: ["hero"], keys: ["name"]), .init(path: ["hero", "tags"]),
      ])
  }

  @Test("is one payload of a server that does not deliver in parts")
  func single() async throws {
    let increments = try await AnyQuery.increments(
      from: Chunks(#"{"data": {"a": 1}}"#, every: 3), contentType: "application/json"
    ).all()
    #expect(
      increments == [GraphQLIncrement(response: .init(data: .object(["a": .int(1)])))])
  }

  @Test("keeps errors and extensions of all payloads; what has failed is absent")
  func errors() throws {
    let increments = try increments([
      #"{"data": {"a": {}}, "errors": [{"message": "1"}], "extensions": {"x": 1}, "hasNext": true}"#,
      #"""
      {"incremental": [{"path": ["a"], "data": null, "errors": [{"message": "2", "path": ["a", "b"]}],
       "extensions": {"y": 2}}], "hasNext": true}
      """#,
      #"""
      {"pending": [{"id": "7", "path": ["a"]}], "hasNext": true}
      """#,
      #"{"completed": [{"id": "7", "errors": [{"message": "3"}]}], "hasNext": false}"#,
    ])
    let last = try #require(increments.last)
    #expect(last.response.errors.map(\.message) == ["1", "2", "3"])
    #expect(last.response.extensions == ["x": .int(1), "y": .int(2)])
    #expect(last.response.data == .object(["a": .object([:])]) && last.deliveries == [])
  }

  @Test("keeps numbers and texts as the server has written them")
  func exactness() throws {
    struct Data: Codable, Hashable, Sendable {
      var a: Decimal
      var b: UInt64?
      var key: String?
      enum CodingKeys: String, CodingKey { case a, b, key = "k\"é" }
    }
    var decoder = GraphQLIncrementDecoder<Data>()
    _ = try decoder.decode(
      Foundation.Data(#"{"data": {"a": 0.10000000000000000000000000001}, "hasNext": true}"#.utf8))
    let last = try decoder.decode(
      Foundation.Data(
        #"{"path": [], "data": {"b": 18446744073709551615, "k\"\u00e9": "\ud83d\ude00"}}"#.utf8))
    let data = try #require(last?.response.data)
    #expect(data.a == Decimal(string: "0.10000000000000000000000000001"))
    #expect(data.b == .max && data.key == "😀" && !decoder.hasNext)
  }

  @Test(
    "refuses what is about no place, and what is no payload",
    arguments: [
      (#"{"incremental": [{"path": ["b"], "data": {}}]}"#, #""b", which no earlier payload has"#),
      (#"{"incremental": [{"path": ["a", 3], "data": {}}]}"#, #""a[3]", which"#),
      (#"{"incremental": [{"path": ["a", 0], "items": []}]}"#, ""),
      (#"{"incremental": [{"path": ["c", 0], "items": []}]}"#, #""c", which"#),
      (#"{"incremental": [{"id": "9", "data": {}}]}"#, "the pending id 9"),
      (#"{"incremental": [{"path": [true], "data": {}}]}"#, ""),
      ("[]", "a payload is an object"), ("{", "a key was expected at byte 1"),
      (#"{"a": 1} x"#, "the end was expected"), (#"{"a" 1}"#, "':' was expected"),
      (#"{"a": [1}"#, "',' or ']' was expected"), (#"{"a": "x"#, "'\"' was expected"),
      (#"{"a": }"#, "a value was expected"), (#"{"hasNext": 1}"#, ""),
      (String(repeating: "[", count: 100_000), "nested less deeply"),
    ])
  func refusals(payload: String, reason: String) throws {
    var decoder = GraphQLIncrementDecoder<GraphQLValue>()
    _ = try decoder.decode(Data(#"{"data": {"a": {}, "c": 1}, "hasNext": true}"#.utf8))
    let error = #expect(throws: (any Error).self) { try decoder.decode(Data(payload.utf8)) }
    #expect(reason.isEmpty || "\(error.map { "\($0)" } ?? "")".contains(reason))
  }

  @Test("has no more bytes than allowed, whatever its parts have; what only waits does not count")
  func limit() throws {
    var decoder = GraphQLIncrementDecoder<GraphQLValue>(responseLimit: 100)
    _ = try decoder.decode(Data(#"{"data": {"a": {}}, "hasNext": true}"#.utf8))
    for _ in 0..<100 { #expect(try decoder.decode(Data("{}".utf8)) == nil) }
    let part = Data(#"{"path": ["a"], "data": {"b": 1}, "hasNext": true}"#.utf8)
    _ = try decoder.decode(part)
    #expect(throws: GraphQLTransportError.responseTooLarge(limit: 100)) {
      try decoder.decode(part)
    }
  }

  @Test("is over with its first error")
  func end() async throws {
    let body = "---\r\n\r\n[]\r\n---\r\n\r\n{\"data\": {}}\r\n-----"
    var increments = AnyQuery.increments(from: Chunks(body), contentType: "multipart/mixed")
      .makeAsyncIterator()
    await #expect(throws: GraphQLDecodingError.self) { try await increments.next() }
    #expect(try await increments.next() == nil)
    let stream = "event: next\ndata: [\n\nevent: next\ndata: {\"data\": {}}\n\n"
    var events = AnyQuery.responses(fromEvents: Chunks(stream)).makeAsyncIterator()
    await #expect(throws: GraphQLDecodingError.self) { try await events.next() }
    #expect(try await events.next() == nil)
  }

  @Test("that ends too soon is an error, and so is a failure of the transport")
  func interruption() async throws {
    let body = "---\r\n\r\n{\"data\": {}, \"hasNext\": true}\r\n---\r\n"
    await #expect(throws: GraphQLTransportError.interrupted) {
      try await AnyQuery.increments(from: Chunks(body), contentType: "multipart/mixed").all()
    }
    await #expect(throws: GraphQLError(message: "cut")) {
      try await AnyQuery.increments(
        from: Chunks(body, error: GraphQLError(message: "cut")), contentType: "multipart/mixed"
      ).all()
    }
  }
}
