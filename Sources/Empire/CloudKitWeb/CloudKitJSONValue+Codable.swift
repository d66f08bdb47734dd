// Coding of field values as JSON. Decoding reads the JSON value first and then converts it
// according to the field's type.

internal import Foundation

extension CloudKitJSONValue: Codable {
  private enum Key: String, CodingKey { case value, type }

  /// Reads a value with its type.
  ///
  /// - Parameter decoder: Positioned at `{"value": …, "type": "…"}`.
  /// - Throws: `CloudKitJSONError`: `asset`, `unknownType`, or `wrongType` for a value that does
  ///   not match its type; `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let field = decoder.codingPath.last?.stringValue ?? ""
    let container = try decoder.container(keyedBy: Key.self)
    let type = try container.decodeIfPresent(String.self, forKey: .type)
    // The value of an asset is not needed: it refers to a file.
    if let type, type.hasPrefix("ASSET") { throw CloudKitJSONError.asset(field) }
    let text = try container.decode(Text.self, forKey: .value)
    guard let type else {
      self = try text.untyped(field)
      return
    }
    let isList = type.hasSuffix("_LIST")
    guard let kind = Kind(rawValue: isList ? String(type.dropLast(5)) : type) else {
      throw CloudKitJSONError.unknownType(field, type)
    }
    if isList {
      guard case .list(let items) = text else {
        throw CloudKitJSONError.wrongType(field, expected: type, found: text.name)
      }
      self = .list(kind, try items.map { try $0.value(kind, field) })
    } else {
      self = try text.value(kind, field)
    }
  }

  /// Writes the value with its type.
  ///
  /// - Parameter encoder: The encoder.
  /// - Throws: `CloudKitJSONError.notANumber` for a number or a date that JSON cannot represent;
  ///   the encoder's errors.
  public func encode(to encoder: any Encoder) throws {
    let field = encoder.codingPath.last?.stringValue ?? ""
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(typeName, forKey: .type)
    try container.encode(try Text(self, field), forKey: .value)
  }

  /// A value as it is written in JSON.
  private indirect enum Text: Codable {
    case string(String)
    case int64(Int64)
    case double(Double)
    case reference(CloudKitJSONReference)
    case location(CloudKitJSONLocation)
    case list([Text])

    init(_ value: CloudKitJSONValue, _ field: String) throws {
      switch value {
      case .string(let text): self = .string(text)
      case .int64(let number): self = .int64(number)
      case .double(let number):
        guard number.isFinite else { throw CloudKitJSONError.notANumber(field) }
        self = .double(number)
      case .timestamp(let date):
        guard let number = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
          throw CloudKitJSONError.notANumber(field)
        }
        self = .int64(number)
      case .bytes(let data): self = .string(data.base64EncodedString())
      case .reference(let reference): self = .reference(reference)
      case .location(let location):
        guard location.latitude.isFinite, location.longitude.isFinite,
          location.altitude?.isFinite ?? true
        else { throw CloudKitJSONError.notANumber(field) }
        self = .location(location)
      case .list(_, let values): self = .list(try values.map { try Text($0, field) })
      }
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(Int64.self) {
        self = .int64(number)
      } else if let number = try? container.decode(Double.self) {
        self = .double(number)
      } else if let text = try? container.decode(String.self) {
        self = .string(text)
      } else if let list = try? container.decode([Text].self) {
        self = .list(list)
      } else if let reference = try? container.decode(CloudKitJSONReference.self) {
        self = .reference(reference)
      } else {
        // If this fails too, its error is thrown.
        self = .location(try container.decode(CloudKitJSONLocation.self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .string(let text): try container.encode(text)
      case .int64(let number): try container.encode(number)
      case .double(let number): try container.encode(number)
      case .reference(let reference): try container.encode(reference)
      case .location(let location): try container.encode(location)
      case .list(let list): try container.encode(list)
      }
    }

    var name: String {
      switch self {
      case .string: "text"
      case .int64, .double: "a number"
      case .reference: "a reference"
      case .location: "a location"
      case .list: "an array"
      }
    }

    func value(_ kind: Kind, _ field: String) throws -> CloudKitJSONValue {
      switch (kind, self) {
      case (.string, .string(let text)): return .string(text)
      case (.int64, .int64(let number)): return .int64(number)
      case (.double, .int64(let number)): return .double(Double(number))
      case (.double, .double(let number)): return .double(number)
      case (.timestamp, .int64(let number)):
        return .timestamp(Date(timeIntervalSince1970: Double(number) / 1000))
      case (.timestamp, .double(let number)):
        return .timestamp(Date(timeIntervalSince1970: number / 1000))
      case (.bytes, .string(let text)):
        guard let data = Data(base64Encoded: text) else { break }
        return .bytes(data)
      case (.reference, .reference(let reference)): return .reference(reference)
      case (.location, .location(let location)): return .location(location)
      default: break
      }
      throw CloudKitJSONError.wrongType(field, expected: kind.rawValue, found: name)
    }

    /// The value with a type that is inferred from its form.
    func untyped(_ field: String) throws -> CloudKitJSONValue {
      switch self {
      case .string(let text): return .string(text)
      case .int64(let number): return .int64(number)
      case .double(let number): return .double(number)
      case .reference(let reference): return .reference(reference)
      case .location(let location): return .location(location)
      case .list(let items):
        let values = try items.map { try $0.untyped(field) }
        let names = Set(values.map(\.typeName))
        guard names.count <= 1 else {
          // A mixture of whole and other numbers is a list of doubles.
          guard names == [Kind.int64.rawValue, Kind.double.rawValue] else {
            throw CloudKitJSONError.wrongType(field, expected: "values of one type", found: name)
          }
          return .list(.double, try items.map { try $0.value(.double, field) })
        }
        guard let kind = Kind(rawValue: names.first ?? Kind.string.rawValue) else {
          throw CloudKitJSONError.wrongType(field, expected: "values", found: "an array of arrays")
        }
        return .list(kind, values)
      }
    }
  }
}
