// Errors between the bytes of a transport and the responses in them.

public import Foundation

/// What a server has sent is no response in the protocol that was agreed, or it has stopped
/// sending.
public enum GraphQLTransportError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The response has one part only, or another type; the header field `Content-Type` is given.
  case notMultipart(String)
  /// The response has ended before its last part. Ask again.
  case interrupted
  /// A part or an event has more bytes than allowed.
  case partTooLarge(limit: Int)
  /// All parts of a response together have more bytes than allowed.
  case responseTooLarge(limit: Int)
  /// The server sends more responses than the program reads; so many wait at most.
  case tooManyUnread(limit: Int)
  /// A payload is about something that no payload before it has announced.
  case unknownPlace(String)
  /// The server has closed the connection, with a code and a reason.
  case closed(code: Int, reason: String)
  /// The server has sent a message that the protocol does not allow.
  case unexpectedMessage(String)
  /// The transport has failed.
  case failed(String)

  /// What has happened.
  public var description: String {
    switch self {
    case .notMultipart(let type):
      "the response is \"\(type)\", and multipart/mixed was expected"
    case .interrupted: "the response has ended before its last part"
    case .partTooLarge(let limit): "a part of the response has more than \(limit) bytes"
    case .responseTooLarge(let limit): "the response has more than \(limit) bytes"
    case .tooManyUnread(let limit):
      "the server sends faster than the program reads: more than \(limit) responses wait"
    case .unknownPlace(let place): "a payload is about \(place), which no earlier payload has"
    case .closed(let code, let reason):
      "the server has closed the connection: \(code)" + (reason.isEmpty ? "" : " \(reason)")
    case .unexpectedMessage(let message): "the protocol does not allow this message: \(message)"
    case .failed(let reason): "the connection has failed: \(reason)"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to do; nil if that depends on the server.
  public var recoverySuggestion: String? {
    switch self {
    case .notMultipart: "Decode the whole body with response(from:)."
    case .interrupted: "Send the operation again."
    case .tooManyUnread: "Read without waiting for other work, or set a higher unreadLimit."
    default: nil
    }
  }
}
