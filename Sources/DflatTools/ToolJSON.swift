// JSON as tools write it: names in alphabetical order, so that equal objects have equal texts.

import Foundation

enum ToolJSON {
  private static func encoder(_ format: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = format
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return encoder
  }

  /// A value on one line.
  static func line(_ value: some Encodable) throws -> Data {
    try encoder([.sortedKeys, .withoutEscapingSlashes]).encode(value)
  }

  /// A value on several lines.
  static func pretty(_ value: some Encodable) throws -> Data {
    try encoder([.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]).encode(value)
  }

  /// A value as its parts.
  static func value(_ value: some Encodable) throws -> JSONValue {
    try JSONDecoder().decode(JSONValue.self, from: line(value))
  }
}

/// A value of JSON.
enum JSONValue: Sendable, Hashable, Decodable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Double.self) {
      self = .real(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }
}
