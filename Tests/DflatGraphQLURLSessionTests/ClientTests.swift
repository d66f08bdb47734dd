// A client and a service on the same machine.

import DflatGraphQL
@testable import DflatGraphQLURLSession
import DflatTestSupport
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("GraphQL over URLSession", .endsSometime)
struct ClientTests {
  @Test("sends queries and changes, with the header fields of the moment")
  func plain() async throws {
    let server = try await Server()
    let tokens = TokenSource()
    let client = GraphQLClient(url: server.url("graphql")) {
      ["Authorization": "Bearer \(await tokens.next())"]
    }
    #expect(try await client.send(EchoQuery("Ä & \"b\"")).requireData().echo == "Ä & \"b\"")
    #expect(await server.event() == "POST Echo")
    #expect(try await client.send(SecretQuery()).requireData().secret == "42")
    // The status is 401, and the answer is a response.
    let refused = try await client.send(SecretQuery())
    #expect(refused.data?.secret == nil)
    #expect(refused.errors.map(\.description) == ["secret: not for you"])
  }

  @Test("sends hashes of documents, and a document once")
  func persisted() async throws {
    let server = try await Server()
    let client = GraphQLClient(url: server.url("graphql"), persistedQueries: .get)
    for text in ["a", "b"] {
      #expect(try await client.send(EchoQuery(text)).requireData().echo == text)
    }
    #expect(await server.event() == "GET Echo")
    #expect(await server.event() == "POST Echo persisted")
    #expect(await server.event() == "GET Echo")
    let posting = GraphQLClient(url: server.url("graphql"), persistedQueries: .post)
    #expect(try await posting.send(EchoQuery("c")).requireData().echo == "c")
    #expect(await server.event() == "POST Echo persisted")
  }

  @Test("sends files in forms", arguments: [nil, .get] as [GraphQLHTTPRequest.Method?])
  func uploads(persisted: GraphQLHTTPRequest.Method?) async throws {
    let server = try await Server()
    let client = GraphQLClient(url: server.url("graphql"), persistedQueries: persisted)
    let file = GraphQLUpload(name: "a.txt", contentType: "text/plain", content: Data("A\r\n".utf8))
    let response = try await client.send(SendMutation(variables: .init(file: file, note: "n")))
    #expect(try response.requireData().send == "a.txt A\r\n n")
    #expect(await server.event() == "POST Send")
  }

  @Test("receives an answer in parts, and one from a service that has no parts")
  func increments() async throws {
    let server = try await Server()
    let client = GraphQLClient(url: server.url("graphql"))
    var bios: [String?] = []
    for try await increment in try await client.increments(of: HeroQuery()) {
      bios.append(try #require(increment.response.data).hero.bio)
    }
    // Both parts are one increment if they come together.
    #expect(bios.suffix(2) == [nil, "Small and brave."] || bios == ["Small and brave."])
    var texts: [String] = []
    for try await increment in try await client.increments(of: EchoQuery("x")) {
      texts.append(try increment.response.requireData().echo)
    }
    #expect(texts == ["x"])
  }

  @Test("receives server-sent events")
  func events() async throws {
    let server = try await Server()
    let client = GraphQLClient(url: server.url("graphql"))
    var counts: [Int] = []
    for try await response in try await client.events(of: CountSubscription(to: 500)) {
      counts.append(try response.requireData().count)
    }
    #expect(counts == Array(1...500))
    let error = await #expect(throws: GraphQLErrors.self) {
      _ = try await client.events(of: WrongSubscription())
    }
    #expect(error?.description.contains("wrong") == true)
  }

  @Test("says what has come in place of GraphQL")
  func refusals() async throws {
    let server = try await Server()
    let page = "<p>sorry</p>"
    for (path, expected) in [
      ("status/502", GraphQLClientError.status(502, body: page)),
      ("json/404", .status(404, body: #"{"message": "sorry"}"#)),
      ("page", .notGraphQL(contentType: "text/html; charset=utf-8", body: "<p>hello</p>")),
    ] {
      for method in [nil, GraphQLHTTPRequest.Method.post] {
        let client = GraphQLClient(url: server.url(path), persistedQueries: method)
        await #expect(throws: expected) { try await client.send(EchoQuery("a")) }
        await #expect(throws: expected) { try await client.increments(of: HeroQuery()) }
        await #expect(throws: expected) { try await client.events(of: CountSubscription(to: 1)) }
      }
    }
    // What should be GraphQL is judged by the schema.
    await #expect(throws: GraphQLDecodingError.self) {
      try await GraphQLClient(url: server.url("json/200")).send(EchoQuery("a"))
    }
    let nowhere = GraphQLClient(url: try #require(URL(string: "http://127.0.0.1:1/")))
    await #expect(throws: URLError.self) { try await nowhere.send(EchoQuery("a")) }
    await #expect(throws: URLError.self) { try await nowhere.events(of: CountSubscription(to: 1)) }
  }

  @Test("reads everything that has come as one piece, and no more than allowed waits")
  func pieces() async throws {
    let (events, continuation) = AsyncThrowingStream<Receiver.Event, any Error>.makeStream()
    let receiver = Receiver(continuation, limit: 5)
    var body = GraphQLResponseBody(events: events, receiver: receiver).makeAsyncIterator()
    for part in ["ab", "", "cd", "e"] { #expect(receiver.add(Data(part.utf8))) }
    #expect(try await body.next() == Data("abcde".utf8))
    for part in ["f", "ghij"] { #expect(receiver.add(Data(part.utf8))) }
    #expect(!receiver.add(Data("k".utf8)))
    #expect(try await body.next() == Data("fghij".utf8))
    await #expect(throws: GraphQLTransportError.responseTooLarge(limit: 5)) {
      try await body.next()
    }
    #expect(try await body.next() == nil)
  }

  @Test("keeps no more of an answer than allowed")
  func limits() async throws {
    let server = try await Server()
    let client = GraphQLClient(url: server.url("flood"), responseLimit: 100_000)
    await #expect(throws: GraphQLTransportError.responseTooLarge(limit: 100_000)) {
      try await client.send(EchoQuery("a"))
    }
    #expect(await server.event() == "left")
    // Nothing is read until the service has had to leave.
    let events = try await client.events(of: CountSubscription(to: 1))
    #expect(await server.event() == "left")
    await #expect(throws: GraphQLTransportError.responseTooLarge(limit: 100_000)) {
      for try await _ in events {}
    }
  }

  @Test("ends a request with the task that waits for it, or that reads its answer")
  func cancellation() async throws {
    let server = try await Server()
    let silent = GraphQLClient(url: server.url("silent"))
    let sending = Task { try await silent.send(EchoQuery("a")) }
    #expect(await server.event() == "asked")
    sending.cancel()
    await #expect(throws: CancellationError.self) { try await sending.value }
    #expect(await server.event() == "left")
    let hanging = GraphQLClient(url: server.url("hang"))
    let (counts, count) = AsyncStream<Int>.makeStream()
    let reading = Task {
      for try await response in try await hanging.events(of: CountSubscription(to: 1)) {
        count.yield(response.data?.count ?? -1)
      }
    }
    for await count in counts {
      #expect(count == 0)
      break
    }
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(await server.event() == "left")
    // A loop that is left.
    for try await _ in try await hanging.events(of: CountSubscription(to: 1)) { break }
    #expect(await server.event() == "left")
  }

  @Test("says that a task was cancelled, also if its request ends before it")
  func requestEndsFirst() async throws {
    let server = try await Server()
    let receivers = Receivers()
    let session = URLSession(configuration: .default, delegate: receivers, delegateQueue: nil)
    defer { session.invalidateAndCancel() }
    let post = try EchoQuery("a").httpRequest().urlRequest(to: server.url("silent"))
    let request = session.dataTask(with: post)
    let starting = Task { try await receivers.start(request, limit: 1).0.type }
    #expect(await server.event() == "asked")
    request.cancel()
    await #expect(throws: CancellationError.self) { try await starting.value }
  }

  @Test("speaks graphql-transport-ws where URLSession has WebSockets, and says so where not")
  func sockets() async throws {
    let server = try await Server()
    let client = GraphQLClient(
      url: server.url("graphql"), socketURL: server.url("socket"))
    let connection = try await client.connect(payload: ["token": .string("open")])
    do {
      var counts: [Int?] = []
      for try await response in connection.responses(to: CountSubscription(to: 3)) {
        counts.append(response.data?.count)
      }
      #expect(counts == [1, 2, 3])
    } catch GraphQLTransportError.failed(let reason) where reason.contains("libcurl") {
      #expect(reason.contains("events(of:)"))
      return
    }
    await #expect(throws: GraphQLErrors.self) {
      for try await _ in connection.responses(to: WrongSubscription()) {}
    }
    let refused = try await client.connect()
    await #expect(throws: GraphQLTransportError.closed(code: 4403, reason: "Forbidden")) {
      for try await _ in refused.responses(to: CountSubscription(to: 3)) {}
    }
  }

  @Test("has an address for WebSockets beside that of the service")
  func addresses() throws {
    for (service, socket) in [
      ("https://example.com/graphql?a=b", "wss://example.com/graphql?a=b"),
      ("http://localhost:8080", "ws://localhost:8080"),
    ] {
      let client = GraphQLClient(url: try #require(URL(string: service)))
      #expect(client.socketURL.absoluteString == socket)
    }
  }

  private actor TokenSource {
    private var tokens = ["first", "open", "late"]
    func next() -> String { tokens.removeFirst() }
  }
}
