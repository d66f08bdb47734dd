// Input objects with `@oneOf`, of which each value has exactly one field.

/// Encodes an input object that has exactly one field, for generated code.
public struct _OneOfEncoder {
  private let type: String
  private let codingPath: [any CodingKey]
  private var container: KeyedEncodingContainer<PathKey>
  private var given: [String] = []
  private var nulls: [String] = []

  /// - Parameter type: The name of the input object.
  public init(_ type: String, _ encoder: any Encoder) {
    self.type = type
    codingPath = encoder.codingPath
    container = encoder.container(keyedBy: PathKey.self)
  }

  /// Encodes a field, if it has a value.
  /// - Throws: The errors of the encoder.
  public mutating func encode(_ name: String, _ value: GraphQLNullable<some Encodable>) throws {
    switch value {
    case .absent: break
    case .null: nulls.append("'\(name)' is null")
    case .value(let value):
      given.append("'\(name)' has a value")
      try container.encode(value, forKey: PathKey(stringValue: name))
    }
  }

  /// Ends the object.
  /// - Throws: `EncodingError` if no field has a value, or if another one is given, too.
  public func finish() throws {
    if given.count == 1, nulls.isEmpty { return }
    let found = (given + nulls).joined(separator: ", ")
    throw EncodingError.invalidValue(
      type,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: "exactly one field of the input object '\(type)' has a value: "
          + (found.isEmpty ? "all are absent" : found)))
  }
}
