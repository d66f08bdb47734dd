// Paths to values in a response.

/// One step from a value in a response to a part of it.
public enum GraphQLPathElement: Hashable, Sendable {
  /// A field, by its key in the response.
  case key(String)
  /// An element of a list.
  case index(Int)
}

extension GraphQLPathElement: Codable {
  /// Decodes a string or a number.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if let index = try? value.decode(Int.self) {
      self = .index(index)
    } else {
      self = .key(try value.decode(String.self))
    }
  }

  /// Encodes a string or a number.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .key(let key): try value.encode(key)
    case .index(let index): try value.encode(index)
    }
  }
}

extension GraphQLPathElement: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  /// A field.
  public init(stringLiteral key: String) { self = .key(key) }
  /// An element of a list.
  public init(integerLiteral index: Int) { self = .index(index) }
}

extension [GraphQLPathElement] {
  init(_ keys: [any CodingKey]) {
    self = keys.map { key in key.intValue.map { .index($0) } ?? .key(key.stringValue) }
  }

  /// The path as programs write it: `hero.friends[1].name`.
  var text: String {
    var text = ""
    for element in self {
      switch element {
      case .key(let key): text += text.isEmpty ? key : ".\(key)"
      case .index(let index): text += "[\(index)]"
      }
    }
    return text
  }
}

/// Any key of a JSON object.
struct PathKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
