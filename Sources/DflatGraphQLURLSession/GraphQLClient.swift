// GraphQLClient: asks a service over URLSession.
//
//  - A client has a session of its own, since the answers that arrive in pieces come to the
//    session's delegate.
//  - How an answer is read follows its status and its type: a service that refuses may answer with
//    errors of GraphQL, or with a page of a server between.
//  - Nothing is sent twice, except what a service asks for that does not know a persisted query.

public import DflatGraphQL
public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// A GraphQL service that is asked over `URLSession`.
///
///     let client = GraphQLClient(url: url) { ["Authorization": "Bearer \(await token())"] }
///     let data = try await client.send(HeroDetailsQuery()).requireData()
///     try await dflat.write(Character.self) { txn in try txn.store(data) }
///
/// All calls throw the errors of `URLSession` (`URLError`), `CancellationError` if their task is
/// cancelled, which also cancels the request, and those of `headers`.
public final class GraphQLClient: Sendable {
  /// The header fields of each request, such as for authorization.
  public typealias Headers = @Sendable () async throws -> [String: String]

  /// The service's address.
  public let url: URL
  /// The address of its WebSocket.
  public let socketURL: URL
  private let persistedQueries: GraphQLHTTPRequest.Method?
  private let responseLimit: Int
  private let headers: Headers
  private let session: URLSession
  private let receivers: Receivers

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - url: The service's address.
  ///   - socketURL: The address of its WebSocket; nil is `url` with the scheme `wss` or `ws`.
  ///   - session: How requests are sent: timeouts, caches, proxies. It is copied. If its
  ///     `httpMaximumConnectionsPerHost` is the usual one, it becomes 100: each stream of events
  ///     takes a connection.
  ///   - persistedQueries: Whether ``send(_:)`` sends the hash of a document in place of the
  ///     document, and how; nil if it does not. Mutations are always posted. Operations with files
  ///     have their document.
  ///   - responseLimit: How many bytes a response may have, and how many bytes of a stream may wait
  ///     to be read, so that a server cannot exhaust memory.
  ///   - headers: Asked before each request and each connection. They replace fields of the same
  ///     name.
  public init(
    url: URL, socketURL: URL? = nil, session: URLSessionConfiguration = .default,
    persistedQueries: GraphQLHTTPRequest.Method? = nil, responseLimit: Int = 1 << 28,
    headers: @escaping Headers = { [:] }
  ) {
    self.url = url
    self.socketURL = socketURL ?? Self.socket(of: url)
    self.persistedQueries = persistedQueries
    self.responseLimit = responseLimit
    self.headers = headers
    receivers = Receivers()
    self.session = URLSession(
      configuration: Self.configuration(session), delegate: receivers, delegateQueue: nil)
  }

  /// The configuration, with enough connections: a stream of events takes one for itself as long as
  /// it is open, and with HTTP/1.1 there are six to a service. Another limit of the program stays.
  private static func configuration(_ session: URLSessionConfiguration) -> URLSessionConfiguration {
    let usual = URLSessionConfiguration.default.httpMaximumConnectionsPerHost
    guard session.httpMaximumConnectionsPerHost == usual,
      let copy = session.copy() as? URLSessionConfiguration
    else { return session }
    copy.httpMaximumConnectionsPerHost = 100
    return copy
  }

  /// Requests that are on their way end as usual.
  deinit { session.finishTasksAndInvalidate() }

  private static func socket(of url: URL) -> URL {
    guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      return url
    }
    components.scheme = components.scheme?.lowercased() == "http" ? "ws" : "wss"
    return components.url ?? url
  }

  // MARK: One response

  /// Sends an operation and waits for its response.
  ///
  /// - Parameter operation: A query or mutation. Variables may have files (`GraphQLUpload`), whose
  ///   content is in memory.
  /// - Returns: The data and the errors, also if the status of the answer is one such as 401.
  /// - Throws: ``GraphQLClientError`` if the answer is not GraphQL; `GraphQLDecodingError` if it is
  ///   not what the schema says; `GraphQLTransportError.responseTooLarge`; `EncodingError`.
  public func send<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> GraphQLResponse<Operation.Data> {
    var answer = Answer()
    do {
      let request = try operation.httpRequest()
      let hasFiles = request.headers["Content-Type"] != "application/json"
      if let persistedQueries, !hasFiles {
        return try await operation.send(method: persistedQueries) { request in
          answer = try await self.answer(to: request)
          return answer.body
        }
      }
      answer = try await self.answer(to: request)
      return try Operation.response(from: answer.body)
    } catch let error as GraphQLDecodingError {
      throw answer.problem ?? error
    }
  }

  // MARK: Several responses

  /// Sends an operation whose response comes in parts, for `@defer` and `@stream`.
  ///
  ///     for try await increment in try await client.increments(of: HeroDetailsQuery()) {
  ///       try await dflat.write(Character.self) { txn in try txn.store(increment) }
  ///     }
  ///
  /// - Parameter operation: A query or mutation; see "Answers in parts" in `DflatGraphQL` for what
  ///   makes documents have the directives.
  /// - Returns: What is known after each part, or after several that have come in the meantime. A
  ///   service that does not deliver in parts has one. Leave the loop to cancel the rest.
  /// - Throws: The errors of ``send(_:)``; iterating throws `GraphQLTransportError`, too.
  public func increments<Operation: GraphQLOperation>(
    of operation: Operation
  ) async throws -> GraphQLIncrements<Operation.Data, GraphQLResponseBody> {
    let request = try operation.httpRequest(accept: .increments)
    let (head, body) = try await open(request)
    if head.type == "multipart/mixed", head.isSuccess {
      return Operation.increments(from: body, contentType: head.contentType)
    }
    let answer = Answer(head: head, body: try await body.whole(limit: responseLimit))
    do { _ = try Operation.response(from: answer.body) } catch { throw answer.problem ?? error }
    return Operation.increments(
      from: GraphQLResponseBody(answer.body), contentType: head.contentType)
  }

  /// Sends an operation whose responses come as server-sent events.
  ///
  ///     for try await response in try await client.events(of: ReviewAddedSubscription()) {
  ///       try await dflat.write(Review.self) { txn in try txn.store(response) }
  ///     }
  ///
  /// - Parameters:
  ///   - operation: A subscription, which gets a request of its own ("distinct connections mode").
  ///   - timeout: How many seconds may pass between two pieces. Services send comments to keep the
  ///     connection open, most of them every few seconds.
  /// - Returns: The responses. Leave the loop, or cancel its task, to end the operation.
  /// - Throws: `GraphQLErrors` if the service refuses it; ``GraphQLClientError``; `EncodingError`.
  ///   Iterating throws `GraphQLDecodingError`, and `GraphQLTransportError.interrupted` if the
  ///   stream ends before the operation: ask again, also for what you may have missed.
  public func events<Operation: GraphQLOperation>(
    of operation: Operation, timeout: TimeInterval = 3600
  ) async throws -> GraphQLEvents<Operation.Data, GraphQLResponseBody> {
    let request = try operation.httpRequest(accept: .events)
    let (head, body) = try await open(request, timeout: timeout)
    if head.type == "text/event-stream", head.isSuccess {
      return Operation.responses(fromEvents: body)
    }
    let answer = Answer(head: head, body: try await body.whole(limit: responseLimit))
    if let response = try? JSONDecoder().decode(Refusal.self, from: answer.body) {
      throw GraphQLErrors(errors: response.errors)
    }
    throw answer.problem ?? .notGraphQL(contentType: head.contentType, body: answer.beginning)
  }

  // MARK: A connection

  /// Opens a WebSocket with the protocol `graphql-transport-ws`.
  ///
  ///     let connection = try await client.connect(payload: ["token": .string(token)])
  ///     for try await response in connection.responses(to: ReviewAddedSubscription()) { … }
  ///
  /// On Linux, `URLSession` has WebSockets only if the system's libcurl is version 7.86 or newer
  /// and was built with them, which that of Debian 12 is not. Otherwise operations end with an
  /// error that says so; use ``events(of:timeout:)``.
  ///
  /// - Parameter payload: What the service receives first, for example for authorization.
  /// - Returns: The connection, which is opened at once, and which is closed when it is
  ///   released.
  /// - Throws: The errors of `headers`.
  public func connect(payload: [String: GraphQLValue]? = nil) async throws -> GraphQLConnection {
    var request = URLRequest(url: socketURL)
    request.setValue(
      GraphQLConnection.webSocketProtocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
    for (name, value) in try await headers() { request.setValue(value, forHTTPHeaderField: name) }
    let task = session.webSocketTask(with: request)
    task.maximumMessageSize = responseLimit
    task.resume()
    return GraphQLConnection(over: URLSessionSocket(task), payload: payload)
  }

  // MARK: Requests

  /// Sends a request, and waits for the beginning of the answer.
  private func open(
    _ request: GraphQLHTTPRequest, timeout: TimeInterval? = nil
  ) async throws -> (Answer.Head, GraphQLResponseBody) {
    var request = request.urlRequest(to: url, headers: try await headers())
    if let timeout { request.timeoutInterval = timeout }
    try Task.checkCancellation()
    return try await receivers.start(session.dataTask(with: request), limit: responseLimit)
  }

  private func answer(to request: GraphQLHTTPRequest) async throws -> Answer {
    let (head, body) = try await open(request)
    return Answer(head: head, body: try await body.whole(limit: responseLimit))
  }
}

/// An answer without data, whatever the operation's data are.
private struct Refusal: Decodable {
  let errors: [GraphQLError]
}
