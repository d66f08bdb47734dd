// Errors in the form of a response.

public import Foundation

/// A response does not have the form that the operation and the schema promise.
public struct GraphQLDecodingError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The value that is wrong, from the root of the response: `data`, `hero`, `name`. It is empty if
  /// the response is no JSON.
  public var path: [GraphQLPathElement]
  /// What was expected and what was found.
  public var reason: String

  /// Creates an error from its parts.
  public init(path: [GraphQLPathElement], reason: String) {
    self.path = path
    self.reason = reason
  }

  /// The path and the reason: `data.hero.name: expected String, found a number`.
  public var description: String { path.isEmpty ? reason : "\(path.text): \(reason)" }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}

extension GraphQLDecodingError {
  init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context):
      self.init(
        path: .init(context.codingPath + [key]), reason: "the response has no such key")
    case .valueNotFound(let type, let context):
      self.init(path: .init(context.codingPath), reason: "expected \(type), found null")
    case .typeMismatch(_, let context), .dataCorrupted(let context):
      self.init(path: .init(context.codingPath), reason: context.debugDescription)
    @unknown default:
      self.init(path: [], reason: "\(error)")
    }
  }
}
