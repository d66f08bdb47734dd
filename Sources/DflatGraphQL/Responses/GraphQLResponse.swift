// GraphQLResponse: what a server answers.

public import Foundation

/// The answer to an operation: data, errors, or data with errors in some of its fields.
public struct GraphQLResponse<Data: Codable & Hashable & Sendable>: Hashable, Sendable {
  /// What was selected; nil if the operation failed as a whole.
  public var data: Data?
  /// The errors, in the server's order; empty if there are none.
  public var errors: [GraphQLError]
  /// What else the server has sent, under names of its own.
  public var extensions: [String: GraphQLValue]

  /// Creates a response from its parts.
  public init(
    data: Data?, errors: [GraphQLError] = [], extensions: [String: GraphQLValue] = [:]
  ) {
    self.data = data
    self.errors = errors
    self.extensions = extensions
  }

  /// Decodes a response.
  ///
  /// - Parameter json: An object with `data`, `errors` or both.
  /// - Throws: ``GraphQLDecodingError``, with the path of the first value that is wrong.
  public init(json: Foundation.Data) throws(GraphQLDecodingError) {
    do {
      let decoder = JSONDecoder.graphQL
      decoder.userInfo[.source] = ResponseSource(json)
      self = try decoder.decode(Self.self, from: json)
    } catch let error as DecodingError {
      if let path = error.pathOfUnreadableValue {
        let value =
          UnreadableValue(at: .init(path), in: json)
          ?? UnrepresentableNumber(in: json, of: Self.self)?.value ?? UnreadableValue(in: json)
        if let value { throw GraphQLDecodingError(path: value.path, reason: value.reason) }
      }
      throw GraphQLDecodingError(error)
    } catch {
      throw GraphQLDecodingError(path: [], reason: "\(error)")
    }
  }

  /// The data of an answer without errors.
  ///
  /// A field with an error is null. Storing such data would clear fields that the server has a
  /// value for, so programs usually store what this returns.
  ///
  /// - Throws: ``GraphQLErrors`` if the server has reported any error.
  public func requireData() throws(GraphQLErrors) -> Data {
    guard errors.isEmpty, let data else { throw GraphQLErrors(errors: errors) }
    return data
  }
}

extension GraphQLResponse: Codable {
  private enum CodingKeys: String, CodingKey {
    case data, errors, extensions
  }

  /// Decodes a response; `data` or `errors` must be there.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    guard values.contains(.data) || values.contains(.errors) else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: values.codingPath,
          debugDescription: "a response has the key data or the key errors"))
    }
    // The errors first: they may explain why the data are not as expected.
    errors = try values.decodeIfPresent([GraphQLError].self, forKey: .errors) ?? []
    data = try values.decodeIfPresent(Data.self, forKey: .data)
    extensions =
      try values.decodeIfPresent([String: GraphQLValue].self, forKey: .extensions) ?? [:]
  }

  /// Encodes a response; errors and extensions only if there are any.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(data, forKey: .data)
    if !errors.isEmpty { try values.encode(errors, forKey: .errors) }
    if !extensions.isEmpty { try values.encode(extensions, forKey: .extensions) }
  }
}
