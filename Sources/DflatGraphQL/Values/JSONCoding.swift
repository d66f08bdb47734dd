// JSON as GraphQL services write it: dates are texts in the forms of ISO 8601.

import Foundation

extension JSONDecoder {
  static var graphQL: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let value = try decoder.singleValueContainer()
      let text = try value.decode(String.self)
      guard let date = Date(iso8601: text) else {
        throw DecodingError.dataCorruptedError(
          in: value, debugDescription: "\"\(text)\" is no date and time in the form of ISO 8601")
      }
      return date
    }
    return decoder
  }
}

extension JSONEncoder {
  /// Equal values have equal bytes.
  static var graphQL: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(date.iso8601)
    }
    return encoder
  }
}

extension String {
  /// The value of a custom scalar as a string field of an entity stores it: the text, if its JSON
  /// is a text, and otherwise the JSON. Generated code calls this.
  @_disfavoredOverload  // A reference such as `numbers.map(String.init)` does not mean it.
  public init(graphQL value: some Encodable) {
    // Custom scalars come from JSON, so they can be written as JSON.
    guard let json = try? JSONEncoder.graphQL.encode(value) else {
      self = ""
      return
    }
    self =
      (try? JSONDecoder().decode(String.self, from: json)) ?? String(decoding: json, as: UTF8.self)
  }
}
