// JSON as GraphQL services write it: dates are texts in the forms of ISO 8601. A day is its
// beginning, and a time without a zone is in UTC.

import Foundation

/// The forms of dates, the usual ones first.
private let dateStyles: [Date.ISO8601FormatStyle] = {
  let whole = [false, true].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
  let day = Date.ISO8601FormatStyle().year().month().day()
  let local = [false, true].map { day.time(includingFractionalSeconds: $0) }
  return whole + local + [day]
}()

extension JSONDecoder {
  static var graphQL: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom { decoder in
      let value = try decoder.singleValueContainer()
      let text = try value.decode(String.self)
      guard let date = dateStyles.lazy.compactMap({ try? Date(text, strategy: $0) }).first else {
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
      let seconds = date.timeIntervalSince1970
      let style = Date.ISO8601FormatStyle(
        includingFractionalSeconds: seconds != seconds.rounded())
      var container = encoder.singleValueContainer()
      try container.encode(date.formatted(style))
    }
    return encoder
  }
}

extension String {
  /// The value of a custom scalar as a string field of an entity stores it: the text, if its JSON
  /// is a text, and otherwise the JSON. Generated code calls this.
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
