// The errors that a server reports in a response.

public import Foundation

/// An error that a server reports.
public struct GraphQLError: Error, Hashable, Sendable {
  /// A place in the operation's document.
  public struct Location: Codable, Hashable, Sendable {
    /// The line, from 1 up.
    public var line: Int
    /// The column, from 1 up.
    public var column: Int

    /// Creates a place.
    public init(line: Int, column: Int) {
      self.line = line
      self.column = column
    }
  }

  /// What went wrong.
  public var message: String
  /// The places in the document that the error is about.
  public var locations: [Location]
  /// The field in `data` that is null because of the error; empty if the error is not about a
  /// field.
  public var path: [GraphQLPathElement]
  /// What else the server says about the error.
  public var extensions: [String: GraphQLValue]

  /// Creates an error from its parts.
  public init(
    message: String, locations: [Location] = [], path: [GraphQLPathElement] = [],
    extensions: [String: GraphQLValue] = [:]
  ) {
    self.message = message
    self.locations = locations
    self.path = path
    self.extensions = extensions
  }
}

extension GraphQLError: Codable {
  private enum CodingKeys: String, CodingKey {
    case message, locations, path, extensions
  }

  /// Decodes an error. What is missing or malformed is empty: a service that describes an error
  /// badly has answered all the same. Without a message, the error's JSON is the message.
  public init(from decoder: any Decoder) throws {
    let values = try? decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys) -> Value? {
      try? values?.decodeIfPresent(Value.self, forKey: key)
    }
    message = try value(.message) ?? String(graphQL: GraphQLValue(from: decoder))
    locations = value(.locations) ?? []
    path = value(.path) ?? []
    extensions = value(.extensions) ?? [:]
  }

  /// Encodes an error; what is empty is left out.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(message, forKey: .message)
    if !locations.isEmpty { try values.encode(locations, forKey: .locations) }
    if !path.isEmpty { try values.encode(path, forKey: .path) }
    if !extensions.isEmpty { try values.encode(extensions, forKey: .extensions) }
  }
}

extension GraphQLError: LocalizedError, CustomStringConvertible {
  /// The message, after the path if there is one: `hero.friends[1].name: not allowed`.
  public var description: String { path.isEmpty ? message : "\(path.text): \(message)" }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}

/// All errors of a response, thrown by ``GraphQLResponse/requireData()``.
public struct GraphQLErrors: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The errors; empty if the server has sent neither data nor errors.
  public var errors: [GraphQLError]

  /// Creates the error.
  public init(errors: [GraphQLError]) { self.errors = errors }

  /// The errors, one per line.
  public var description: String {
    errors.isEmpty
      ? "the response has no data" : errors.map(\.description).joined(separator: "\n")
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
