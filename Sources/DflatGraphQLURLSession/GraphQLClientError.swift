// Answers that are not GraphQL.

public import Foundation

/// A service, or a server before it, has answered with something else than GraphQL.
public enum GraphQLClientError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The status is no success, and the body has neither data nor errors; its beginning is given.
  case status(Int, body: String)
  /// The body is of another type, for example a web page; its beginning is given.
  case notGraphQL(contentType: String, body: String)

  /// What has come.
  public var description: String {
    switch self {
    case .status(let status, let body):
      "the service has answered with the HTTP status \(status)" + (body.isEmpty ? "" : ": \(body)")
    case .notGraphQL(let type, let body):
      "the service has answered with the type \"\(type)\", which is not GraphQL: \(body)"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What to do; nil if that depends on the service.
  public var recoverySuggestion: String? {
    switch self {
    case .status(401, _), .status(403, _): "Give the client headers with valid credentials."
    case .status(404, _), .notGraphQL: "Check the address of the service."
    case .status(429, _), .status(500..., _): "Ask again later."
    case .status: nil
    }
  }
}
