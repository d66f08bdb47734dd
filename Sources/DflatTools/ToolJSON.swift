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
///
/// Texts are equal if their bytes are, and numbers if their bits are: other forms are other values.
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
      // Whole numbers have no negative zero.
      let real = value == 0 ? try? container.decode(Double.self) : nil
      self = real?.sign == .minus ? .real(-0.0) : .integer(value)
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

extension JSONValue {
  static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.bool(let one), .bool(let other)): one == other
    case (.integer(let one), .integer(let other)): one == other
    case (.unsigned(let one), .unsigned(let other)): one == other
    case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
    case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
    case (.array(let one), .array(let other)): one == other
    case (.object(let one), .object(let other)): one == other
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .bool(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .real(let value): hasher.combine(value.bitPattern)
    case .string(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    }
  }

  /// The value as text for people: texts as they are, what has parts as JSON.
  var text: String {
    switch self {
    case .null: ""
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): value.isZero && value.sign == .minus ? "-0" : "\(value)"
    case .string(let text): text
    case .array, .object: json
    }
  }

  /// The value as JSON on one line.
  var json: String {
    switch self {
    case .null: return "null"
    case .bool, .integer, .unsigned, .real: return text
    case .string, .array, .object:
      // Every value of this type has a form in JSON.
      guard let data = try? ToolJSON.line(self) else { return "" }
      return String(decoding: data, as: UTF8.self)
    }
  }
}

extension JSONValue: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .real(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
