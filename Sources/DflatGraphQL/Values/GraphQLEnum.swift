// GraphQLEnum: the common protocol of generated enums.

/// An enum of a GraphQL schema, with a case for values that were added to the schema later.
/// Conformances are generated.
public protocol GraphQLEnum: RawRepresentable, CaseIterable, Codable, Hashable, Sendable
where RawValue == String {
  /// The value with a name; the case `unknown` if the schema had no such name.
  init(rawValue: String)
}

extension GraphQLEnum {
  /// Decodes the name.
  public init(from decoder: any Decoder) throws {
    self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
  }

  /// Encodes the name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
