// Input objects with `@oneOf`, of which each value has exactly one field.

extension Encoder {
  /// Encodes an input object that has exactly one field, for generated code.
  ///
  /// - Parameters:
  ///   - type: The input object.
  ///   - fields: All fields with their names.
  /// - Throws: `EncodingError` if no field has a value, or if another one is given, too.
  public func _encodeOneOf<each Value: Encodable>(
    _ type: String, _ fields: repeat (name: String, value: GraphQLNullable<each Value>)
  ) throws {
    var container = container(keyedBy: PathKey.self)
    var values: [String] = []
    var nulls: [String] = []
    for (name, value) in repeat each fields {
      switch value {
      case .absent: break
      case .null: nulls.append("'\(name)' is null")
      case .value(let value):
        values.append("'\(name)' has a value")
        try container.encode(value, forKey: PathKey(stringValue: name))
      }
    }
    if values.count == 1, nulls.isEmpty { return }
    let found = (values + nulls).joined(separator: ", ")
    throw EncodingError.invalidValue(
      type,
      EncodingError.Context(
        codingPath: codingPath,
        debugDescription: "exactly one field of the input object '\(type)' has a value: "
          + (found.isEmpty ? "all are absent" : found)))
  }
}
