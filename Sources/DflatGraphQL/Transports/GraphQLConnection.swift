// GraphQLConnection: any number of operations over one WebSocket, by the protocol
// `graphql-transport-ws`.
//
//  - The connection is opened at once: `connection_init`, and `connection_ack` in answer. A server
//    closes a socket on which the first one is late. Operations wait for the second one.
//  - Messages are sent by one task, in the order in which they were put into the queue, so that a
//    `complete` never overtakes the `subscribe` that it is about.
//  - What a server can make this side keep is limited: responses that are not read, and answers to
//    pings that are not sent.
//  - An operation ends once: by `complete`, by `error`, with the connection, or because the program
//    has stopped reading, which sends `complete`.

import Foundation
import Platform

/// A connection to a service that answers operations any number of times.
///
///     let connection = GraphQLConnection(over: socket, payload: ["token": .string(token)])
///     for try await response in connection.responses(to: ReviewAddedSubscription()) {
///       try await dflat.write(Review.self) { txn in try txn.store(response) }
///     }
///
/// To end an operation, stop reading: leave the loop, or cancel its task. To connect again after a
/// failure, make another connection.
public final class GraphQLConnection: Sendable {
  /// The protocol that the WebSocket's handshake asks for.
  public static let webSocketProtocol = "graphql-transport-ws"

  private struct State {
    var phase = Phase.opening
    var lastID = 0
    /// The operations that have not ended.
    var operations: [String: Operation] = [:]
    /// What waits for `connection_ack`.
    var waiting: [(id: String, message: String)] = []
    var reader: Task<Void, Never>?
    /// How many answers to pings are in the queue.
    var pongs = 0
  }

  private enum Message {
    case plain(String)
    /// The answer to a ping.
    case pong(String)
  }

  /// A server that does not read gets no more answers to its pings than these.
  private static let pongLimit = 64

  private enum Phase {
    case opening
    case open
    case ended(GraphQLTransportError?)
  }

  private struct Operation {
    /// Decodes a payload and hands it on; an error ends the operation.
    let receive: @Sendable (Foundation.Data) throws -> Void
    let finish: @Sendable ((any Error)?) -> Void
  }

  private let socket: any GraphQLSocket
  private let payload: [String: GraphQLValue]?
  private let unreadLimit: Int
  private let state = Mutex(State())
  private let outgoing: AsyncStream<Message>.Continuation
  private let messages: AsyncStream<Message>

  /// Creates a connection, and opens it.
  ///
  /// - Parameters:
  ///   - socket: A WebSocket with the protocol ``webSocketProtocol``.
  ///   - payload: What the server receives first, for example for authorization.
  ///   - unreadLimit: How many responses of an operation may wait until the program reads them. An
  ///     operation with more ends with ``GraphQLTransportError/tooManyUnread(limit:)``, so that a
  ///     server cannot exhaust memory.
  public init(
    over socket: any GraphQLSocket, payload: [String: GraphQLValue]? = nil,
    unreadLimit: Int = 1000
  ) {
    self.socket = socket
    self.payload = payload
    self.unreadLimit = max(unreadLimit, 1)
    (messages, outgoing) = AsyncStream.makeStream()
    let reader = open()
    state.withLock { $0.reader = reader }
  }

  deinit {
    outgoing.finish()
    state.withLock { $0.reader }?.cancel()
    let socket = socket
    Task { await socket.close(code: 1000, reason: "") }
  }

  // MARK: Operations

  /// Sends an operation, and receives its responses.
  ///
  /// Responses that are not read yet are kept in memory, up to the connection's `unreadLimit`.
  ///
  /// - Parameter operation: A subscription; a query or mutation has one response.
  /// - Returns: The responses. They end when the server completes the operation. Iterating throws
  ///   ``GraphQLErrors`` if the server refuses it, ``GraphQLDecodingError``,
  ///   ``GraphQLTransportError`` if the connection ends before, and `EncodingError`.
  public func responses<Operation: GraphQLOperation>(
    to operation: Operation
  ) -> AsyncThrowingStream<GraphQLResponse<Operation.Data>, any Error> {
    let limit = unreadLimit
    return AsyncThrowingStream(bufferingPolicy: .bufferingOldest(limit)) { continuation in
      do {
        let body = String(decoding: try operation.body(), as: UTF8.self)
        let id = try begin(
          body,
          .init(
            receive: {
              if case .dropped = continuation.yield(try Operation.response(from: $0)) {
                throw GraphQLTransportError.tooManyUnread(limit: limit)
              }
            },
            finish: { continuation.finish(throwing: $0) }))
        continuation.onTermination = { [self] reason in
          if case .cancelled = reason { stop(id) }
        }
      } catch {
        continuation.finish(throwing: error)
      }
    }
  }

  /// Ends the connection and its operations.
  ///
  /// The responses of operations that have not completed end with
  /// ``GraphQLTransportError/interrupted``.
  public func close() async {
    end(.interrupted)
    await socket.close(code: 1000, reason: "")
  }

  /// Registers an operation and asks for it as soon as the connection is open.
  private func begin(
    _ body: String, _ operation: Operation
  ) throws(GraphQLTransportError) -> String {
    try state.withLock { state throws(GraphQLTransportError) in
      if case .ended(let error) = state.phase { throw error ?? .interrupted }
      state.lastID += 1
      let id = "\(state.lastID)"
      state.operations[id] = operation
      let message = #"{"id":"\#(id)","payload":\#(body),"type":"subscribe"}"#
      if case .open = state.phase {
        outgoing.yield(.plain(message))
      } else {
        state.waiting.append((id, message))
      }
      return id
    }
  }

  /// Ends an operation that the program does not read any more.
  private func stop(_ id: String) {
    state.withLock { state in
      guard state.operations.removeValue(forKey: id) != nil else { return }
      if let number = state.waiting.firstIndex(where: { $0.id == id }) {
        state.waiting.remove(at: number)
      } else {
        outgoing.yield(.plain(Self.complete(id)))
      }
    }
  }

  private static func complete(_ id: String) -> String { #"{"id":"\#(id)","type":"complete"}"# }

  // MARK: The connection

  /// Starts sending and receiving. Neither keeps the connection in memory.
  private func open() -> Task<Void, Never> {
    let payload = payload.map { #","payload":"# + String(graphQL: GraphQLValue.object($0)) } ?? ""
    outgoing.yield(.plain(#"{"type":"connection_init"\#(payload)}"#))
    let (socket, messages) = (socket, messages)
    Task { [weak self] in
      for await message in messages {
        do {
          switch message {
          case .plain(let text): try await socket.send(text)
          case .pong(let text):
            self?.state.withLock { $0.pongs -= 1 }
            try await socket.send(text)
          }
        } catch {
          if self?.end(Self.failure(error)) == true { await socket.close(code: 1000, reason: "") }
          return
        }
      }
    }
    return Task { [weak self] in
      while !Task.isCancelled {
        do {
          switch try await socket.receive() {
          case .text(let text):
            guard let self else { return }
            guard let problem = receive(text) else { continue }
            end(problem)
            return await socket.close(code: 4400, reason: "unexpected message")
          case .closed(let code, let reason):
            self?.end(.closed(code: code, reason: reason))
            return
          }
        } catch {
          if self?.end(Self.failure(error)) == true { await socket.close(code: 1000, reason: "") }
          return
        }
      }
    }
  }

  private static func failure(_ error: any Error) -> GraphQLTransportError {
    error as? GraphQLTransportError ?? .failed("\(error)")
  }

  /// Ends every operation, and refuses further ones.
  /// - Returns: Whether the connection had not ended before.
  @discardableResult
  private func end(_ error: GraphQLTransportError) -> Bool {
    let operations = state.withLock { state -> [Operation]? in
      if case .ended = state.phase { return nil }
      state.phase = .ended(error)
      defer {
        state.operations = [:]
        state.waiting = []
      }
      return Array(state.operations.values)
    }
    outgoing.finish()
    for operation in operations ?? [] { operation.finish(error) }
    return operations != nil
  }

  /// Handles a message of the server.
  /// - Returns: What is wrong with it; nil if nothing is.
  private func receive(_ text: String) -> GraphQLTransportError? {
    let problem = GraphQLTransportError.unexpectedMessage(String(text.prefix(200)))
    guard let message = try? JSONTree(text.utf8),
      let type = try? message["type"]?.decode(String.self)
    else { return problem }
    let id = (try? message["id"]?.decode(String.self)) ?? ""
    switch type {
    case "connection_ack":
      return state.withLock { state -> GraphQLTransportError? in
        guard case .opening = state.phase else { return problem }
        state.phase = .open
        for waiting in state.waiting { outgoing.yield(.plain(waiting.message)) }
        state.waiting = []
        return nil
      }
    case "ping":
      let payload = message["payload"].map {
        ",\"payload\":" + String(decoding: $0.bytes, as: UTF8.self)
      }
      state.withLock { state in
        if state.pongs == Self.pongLimit { return }
        state.pongs += 1
        outgoing.yield(.pong(#"{"type":"pong"\#(payload ?? "")}"#))
      }
    case "pong": break
    case "next":
      guard let payload = message["payload"] else { return problem }
      // It may have crossed a `complete` on its way.
      guard let operation = state.withLock({ $0.operations[id] }) else { return nil }
      do { try operation.receive(payload.bytes) } catch {
        if finish(id, error) { outgoing.yield(.plain(Self.complete(id))) }
      }
    case "error":
      let errors = try? message["payload"]?.decode([GraphQLError].self)
      guard let errors else { return problem }
      _ = finish(id, GraphQLErrors(errors: errors))
    case "complete": _ = finish(id, nil)
    default: return problem
    }
    return nil
  }

  /// Ends an operation; false if it has ended before.
  private func finish(_ id: String, _ error: (any Error)?) -> Bool {
    guard let operation = state.withLock({ $0.operations.removeValue(forKey: id) }) else {
      return false
    }
    operation.finish(error)
    return true
  }
}
