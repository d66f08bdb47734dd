// GraphQLValue: JSON of no particular type.

/// Any JSON value, for extensions and for custom scalars without a Swift type of their own.
public enum GraphQLValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without a fraction that fits.
  case int(Int64)
  /// Any other number.
  case double(Double)
  /// A string.
  case string(String)
  /// A list.
  case list([GraphQLValue])
  /// An object.
  case object([String: GraphQLValue])
}

extension GraphQLValue: Codable {
  /// Decodes any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let int = try? value.decode(Int64.self) {
      self = .int(int)
    } else if let double = try? value.decode(Double.self) {
      self = .double(double)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let list = try? value.decode([GraphQLValue].self) {
      self = .list(list)
    } else {
      self = .object(try value.decode([String: GraphQLValue].self))
    }
  }

  /// Encodes the value as it was.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .int(let int): try value.encode(int)
    case .double(let double): try value.encode(double)
    case .string(let string): try value.encode(string)
    case .list(let list): try value.encode(list)
    case .object(let object): try value.encode(object)
    }
  }
}
