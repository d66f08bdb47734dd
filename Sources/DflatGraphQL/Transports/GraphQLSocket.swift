// GraphQLSocket: what a connection needs of a WebSocket.

/// A WebSocket, or anything else that carries texts in both directions, in order.
///
/// The handshake asks for the protocol ``GraphQLConnection/webSocketProtocol``. With `URLSession`:
///
///     struct Socket: GraphQLSocket {
///       let task: URLSessionWebSocketTask
///       func send(_ message: String) async throws { try await task.send(.string(message)) }
///       func receive() async throws -> GraphQLSocketMessage {
///         do {
///           if case .string(let text) = try await task.receive() { return .text(text) }
///           return .closed(code: 1003, reason: "not a text")
///         } catch where task.closeCode != .invalid {
///           let reason = task.closeReason.map { String(decoding: $0, as: UTF8.self) }
///           return .closed(code: task.closeCode.rawValue, reason: reason ?? "")
///         }
///       }
///       func close(code: Int, reason: String) async {
///         task.cancel(with: .init(rawValue: code) ?? .normalClosure, reason: Data(reason.utf8))
///       }
///     }
public protocol GraphQLSocket: Sendable {
  /// Sends a text.
  func send(_ message: String) async throws
  /// Waits for the next message. It is called again only after it has returned.
  func receive() async throws -> GraphQLSocketMessage
  /// Closes the socket, after which `receive()` returns or throws.
  func close(code: Int, reason: String) async
}

/// What a WebSocket receives.
public enum GraphQLSocketMessage: Hashable, Sendable {
  /// A text.
  case text(String)
  /// The other side has closed the socket.
  case closed(code: Int, reason: String)
}
