// GraphQLSocket: what a connection needs of a WebSocket.

/// A WebSocket, or anything else that carries texts in both directions, in order.
///
/// The handshake asks for the protocol ``GraphQLConnection/webSocketProtocol``. The library
/// `DflatGraphQLURLSession` has one over `URLSession`.
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
