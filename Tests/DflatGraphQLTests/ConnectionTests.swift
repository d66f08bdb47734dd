// Connections by graphql-transport-ws, over sockets that a test plays, and one behind which
// graphql-core answers.

import DflatGraphQL
import DflatTestSupport
import Foundation
import Platform
import Testing

@Suite("GraphQL: connections", .endsSometime)
struct ConnectionTests {
  private struct Count: GraphQLSubscription {
    static let operationName = "Count"
    static let document = "subscription Count($to: Int!) { count(to: $to) }"
    var variables = Variables()
    struct Variables: Encodable, Hashable, Sendable { var to = 3 }
    struct Data: Codable, Hashable, Sendable { var count: Int }
  }

  private func subscribe(_ id: Int) -> String {
    #"{"id":"\#(id)","payload":{"operationName":"Count","query":"\#(Count.document)","#
      + #""variables":{"to":3}},"type":"subscribe"}"#
  }

  private func next(_ id: Int, _ count: Int) -> String {
    #"{"id": "\#(id)", "type": "next", "payload": {"data": {"count": \#(count)}}}"#
  }

  @Test("wait for the acknowledgement, answer pings, and hand every response to its operation")
  func whole() async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket, payload: ["token": .string("t")])
    var first = connection.responses(to: Count()).makeAsyncIterator()
    var second = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == #"{"type":"connection_init","payload":{"token":"t"}}"#)
    socket.play(#"{"type": "ping"}"#)
    #expect(await socket.sent() == #"{"type":"pong"}"#)
    socket.play(#"{"type": "pong"}"#, #"{"type": "connection_ack", "payload": null}"#)
    #expect(await socket.sent() == subscribe(1))
    #expect(await socket.sent() == subscribe(2))
    socket.play(
      next(2, 20), #"{"type": "ping", "payload": {"a": [1.50]}}"#, next(1, 10), next(2, 21),
      next(9, 1),
      #"{"id": "1", "type": "complete"}"#, next(1, 11),
      #"{"id": "2", "type": "error", "payload": [{"message": "no more"}]}"#)
    #expect(await socket.sent() == #"{"type":"pong","payload":{"a":[1.50]}}"#)
    #expect(try await first.next()?.data?.count == 10)
    #expect(try await first.next() == nil)
    #expect(try await second.next()?.data?.count == 20)
    #expect(try await second.next()?.data?.count == 21)
    await #expect(throws: GraphQLErrors(errors: [.init(message: "no more")])) {
      try await second.next()
    }
    var third = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == subscribe(3))
    await connection.close()
    await #expect(throws: GraphQLTransportError.interrupted) { try await third.next() }
    #expect(socket.closed == [1000])
    await #expect(throws: GraphQLTransportError.interrupted) {
      try await connection.responses(to: Count()).all()
    }
  }

  @Test("end an operation whose responses are not read any more, or not as promised")
  func stopping() async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket)
    _ = connection.responses(to: Count())  // Never asked for.
    let task = Task { try await connection.responses(to: Count()).all() }
    #expect(await socket.sent() == #"{"type":"connection_init"}"#)
    socket.play(#"{"type": "connection_ack"}"#)
    #expect(await socket.sent() == subscribe(2))
    task.cancel()
    #expect(await socket.sent() == #"{"id":"2","type":"complete"}"#)
    _ = try await task.value
    var responses = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == subscribe(3))
    socket.play(#"{"id": "3", "type": "next", "payload": {"data": {"count": "x"}}}"#)
    let error = await #expect(throws: GraphQLDecodingError.self) { try await responses.next() }
    #expect(error?.path == ["data", "count"])
    #expect(await socket.sent() == #"{"id":"3","type":"complete"}"#)
    await connection.close()
  }

  @Test(
    "end with the connection",
    arguments: [
      #"{"type": "hello"}"#, "{", #"{"id": "1", "type": "next"}"#, #"{"type": "connection_ack"}"#,
      #"{"id": "1", "type": "error", "payload": 1}"#,
    ])
  func violations(message: String) async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket)
    var responses = connection.responses(to: Count()).makeAsyncIterator()
    socket.play(#"{"type": "connection_ack"}"#, message)
    await #expect(throws: GraphQLTransportError.unexpectedMessage(message)) {
      try await responses.next()
    }
    await socket.waitUntilClosed()
    #expect(socket.closed == [4400])
  }

  @Test("end with the code and reason of a server that closes, or with the transport's failure")
  func endings() async throws {
    let endings: [(GraphQLSocketMessage?, GraphQLTransportError)] = [
      (.closed(code: 4403, reason: "Forbidden"), .closed(code: 4403, reason: "Forbidden")),
      (nil, .failed("cut")),
    ]
    for (ending, error) in endings {
      let socket = PlayedSocket()
      let connection = GraphQLConnection(over: socket)
      var responses = connection.responses(to: Count()).makeAsyncIterator()
      socket.end(ending)
      await #expect(throws: error) { try await responses.next() }
      await #expect(throws: error) { try await connection.responses(to: Count()).all() }
      if ending == nil {
        await socket.waitUntilClosed()
        #expect(socket.closed == [1000])
      }
    }
  }

  @Test("are opened at once, since servers wait for that only for a while")
  func opening() async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket)
    #expect(await socket.sent() == #"{"type":"connection_init"}"#)
    socket.play(#"{"type": "connection_ack"}"#, #"{"type": "ping"}"#)
    #expect(await socket.sent() == #"{"type":"pong"}"#)
    var responses = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == subscribe(1))
    socket.play(next(1, 7))
    #expect(try await responses.next()?.data?.count == 7)
    await connection.close()
  }

  @Test("are closed when a message cannot be sent")
  func failedSending() async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket)
    #expect(await socket.sent() == #"{"type":"connection_init"}"#)
    socket.play(#"{"type": "connection_ack"}"#)
    var first = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == subscribe(1))
    socket.failSending()
    var second = connection.responses(to: Count()).makeAsyncIterator()
    await #expect(throws: GraphQLTransportError.failed("cut")) { try await first.next() }
    await #expect(throws: GraphQLTransportError.failed("cut")) { try await second.next() }
    await socket.waitUntilClosed()
    #expect(socket.closed == [1000])
  }

  @Test("end an operation of which more responses wait than allowed")
  func unread() async throws {
    let socket = PlayedSocket()
    let connection = GraphQLConnection(over: socket, unreadLimit: 3)
    var responses = connection.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == #"{"type":"connection_init"}"#)
    socket.play(#"{"type": "connection_ack"}"#)
    #expect(await socket.sent() == subscribe(1))
    for number in 1...1000 { socket.play(next(1, number)) }
    #expect(await socket.sent() == #"{"id":"1","type":"complete"}"#)
    for number in 1...3 { #expect(try await responses.next()?.data?.count == number) }
    await #expect(throws: GraphQLTransportError.tooManyUnread(limit: 3)) {
      try await responses.next()
    }
    await connection.close()
  }

  @Test("queue few answers to pings of a server that does not read")
  func pings() async throws {
    let log = HeldSocket.Log()
    do {
      let connection = GraphQLConnection(over: HeldSocket(pings: 10_000, log: log))
      await #expect(throws: GraphQLTransportError.closed(code: 1000, reason: "")) {
        try await connection.responses(to: Count()).all()
      }
      log.release()
    }
    // The socket is gone when everything in the queue has been sent.
    for await _ in log.end.stream {}
    #expect((1...65).contains(log.sent.withLock { $0 }))
  }

  @Test("are closed with the last reference, and kept while operations are read")
  func lifetime() async throws {
    let socket = PlayedSocket()
    var connection: GraphQLConnection? = GraphQLConnection(over: socket)
    var responses = connection?.responses(to: Count()).makeAsyncIterator()
    #expect(await socket.sent() == #"{"type":"connection_init"}"#)
    connection = nil
    socket.play(#"{"type": "connection_ack"}"#, next(1, 7))
    #expect(try await responses?.next()?.data?.count == 7)
    #expect(socket.closed == [])
    responses = nil
    await socket.waitUntilClosed()
    #expect(socket.closed == [1000])
  }

  // MARK: graphql-core

  private struct Greeting: GraphQLQuery {
    static let operationName = "Greeting"
    static let document = #"query Greeting { greeting(name: "you") }"#
    var variables = GraphQLNoVariables()
    struct Data: Codable, Hashable, Sendable { var greeting: String }
  }

  private struct Forever: GraphQLSubscription {
    static let operationName = "Forever"
    static let document = "subscription Forever { forever }"
    var variables = GraphQLNoVariables()
    struct Data: Codable, Hashable, Sendable { var forever: Int }
  }

  private struct Wrong: GraphQLSubscription {
    static let operationName = "Wrong"
    static let document = "subscription Wrong { wrong }"
    var variables = GraphQLNoVariables()
    struct Data: Codable, Hashable, Sendable {}
  }

  @Test("speak with graphql-core, several operations at once")
  func judge() async throws {
    let socket = try ProcessSocket()
    let connection = GraphQLConnection(over: socket, payload: ["token": .string("open")])
    async let many = connection.responses(to: Count(variables: .init(to: 500))).all()
    async let few = connection.responses(to: Count()).all()
    async let greeting = connection.responses(to: Greeting()).all()
    #expect(try await many.map(\.data?.count) == (1...500).map { $0 })
    #expect(try await few.map(\.data?.count) == [1, 2, 3])
    #expect(try await greeting.map(\.data?.greeting) == ["Hello, you"])
    var last = 0
    for try await response in connection.responses(to: Forever()) {
      last = try #require(response.data?.forever)
      if last == 5 { break }
    }
    #expect(last == 5)
    await #expect(throws: GraphQLErrors.self) {
      try await connection.responses(to: Wrong()).all()
    }
    #expect(try await connection.responses(to: Greeting()).all().count == 1)
    await connection.close()
  }

  @Test("are refused by graphql-core's server without the token that it wants")
  func refusal() async throws {
    let connection = GraphQLConnection(over: try ProcessSocket())
    await #expect(throws: GraphQLTransportError.closed(code: 4403, reason: "Forbidden")) {
      try await connection.responses(to: Greeting()).all()
    }
  }
}

/// A socket that receives pings and the end, and sends only when the test releases it.
private final class HeldSocket: GraphQLSocket {
  /// What outlives the socket.
  final class Log: Sendable {
    let sent = Mutex(0)
    let held = AsyncStream<Void>.makeStream()
    let end = AsyncStream<Void>.makeStream()
    func release() { held.continuation.finish() }
  }

  private let left: Mutex<Int>
  private let log: Log

  init(pings: Int, log: Log) {
    left = Mutex(pings)
    self.log = log
  }

  deinit { log.end.continuation.finish() }

  func send(_ message: String) async throws {
    for await _ in log.held.stream {}
    if message.contains("pong") { log.sent.withLock { $0 += 1 } }
  }

  func receive() async throws -> GraphQLSocketMessage {
    let isPing = left.withLock { left in
      left -= 1
      return left >= 0
    }
    return isPing ? .text(#"{"type": "ping"}"#) : .closed(code: 1000, reason: "")
  }

  func close(code: Int, reason: String) async {}
}

/// A socket of which a test plays the server.
private final class PlayedSocket: GraphQLSocket {
  private typealias Incoming = Result<GraphQLSocketMessage, any Error>
  private let incoming = AsyncStream<Incoming>.makeStream()
  private let outgoing = AsyncStream<String>.makeStream()
  private let closing = AsyncStream<Int>.makeStream()
  private let codes = Mutex<[Int]>([])

  struct Failure: Error, CustomStringConvertible { let description: String }

  private let isFailing = Mutex(false)

  func send(_ message: String) async throws {
    if isFailing.withLock({ $0 }) { throw Failure(description: "cut") }
    outgoing.continuation.yield(message)
  }

  /// Lets every further message fail.
  func failSending() { isFailing.withLock { $0 = true } }

  func receive() async throws -> GraphQLSocketMessage {
    for await message in incoming.stream { return try message.get() }
    throw CancellationError()
  }

  func close(code: Int, reason: String) async {
    codes.withLock { $0.append(code) }
    incoming.continuation.finish()
    closing.continuation.yield(code)
  }

  /// The codes with which the program has closed the socket.
  var closed: [Int] { codes.withLock { $0 } }
  func waitUntilClosed() async { for await _ in closing.stream { return } }

  /// The next message that the program sends.
  func sent() async -> String? {
    for await message in outgoing.stream { return message }
    return nil
  }

  /// Sends messages to the program.
  func play(_ messages: String...) {
    for message in messages { incoming.continuation.yield(.success(.text(message))) }
  }

  /// Ends the socket; nil is a failure.
  func end(_ message: GraphQLSocketMessage?) {
    incoming.continuation.yield(
      message.map { .success($0) } ?? .failure(Failure(description: "cut")))
  }
}

/// Lines to and from graphql-core, in a process of its own.
private final class ProcessSocket: GraphQLSocket {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let lines = AsyncStream<String>.makeStream()

  init() throws {
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-u", Bundle.module.bundlePath + "/Judge/lines.py"]
    let checkout = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let modules = checkout.appending(path: ".build/python").path
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PYTHONPATH": modules, "PYTHONDONTWRITEBYTECODE": "1"]
    ) { $0 == $1 ? $0 : "\($1):\($0)" }
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    let continuation = lines.continuation
    let rest = Mutex<[UInt8]>([])
    output.fileHandleForReading.readabilityHandler = { handle in
      let bytes = handle.availableData
      if bytes.isEmpty {
        handle.readabilityHandler = nil
        return continuation.finish()
      }
      rest.withLock { rest in
        rest += bytes
        while let end = rest.firstIndex(of: 0x0A) {
          continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
          rest.removeSubrange(...end)
        }
      }
    }
    try process.run()
  }

  func send(_ message: String) async throws {
    try input.fileHandleForWriting.write(contentsOf: Data((message + "\n").utf8))
  }

  func receive() async throws -> GraphQLSocketMessage {
    for await line in lines.stream {
      if line.hasPrefix("closed ") {
        let parts = line.split(separator: " ", maxSplits: 2)
        return .closed(code: Int(parts[1]) ?? 0, reason: String(parts[2]))
      }
      return .text(line)
    }
    return .closed(code: 1006, reason: "the process has ended")
  }

  func close(code: Int, reason: String) async {
    try? input.fileHandleForWriting.close()
  }
}
