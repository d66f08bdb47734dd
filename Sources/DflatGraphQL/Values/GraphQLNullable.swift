// GraphQLNullable: values where null and nothing at all are different.

/// The value of a variable or field that may be null and may be left out.
///
/// A variable that is left out lets the server use its default or keep what it has; null is a
/// value. A selected field is left out if `@include` or `@skip` says so.
///
///     HeroDetailsQuery.Variables()                          // left out
///     HeroDetailsQuery.Variables(episode: nil)              // null
///     HeroDetailsQuery.Variables(episode: .value(.jedi))
@frozen
public indirect enum GraphQLNullable<Wrapped> {
  // Indirect, since an input object may have fields of its own type.
  /// Left out.
  case absent
  /// `null`.
  case null
  /// A value.
  case value(Wrapped)

  /// The value, and null for nil.
  public init(_ value: Wrapped?) {
    self = value.map { .value($0) } ?? .null
  }

  /// The value; nil for null and if it is left out.
  public var value: Wrapped? {
    if case .value(let value) = self { value } else { nil }
  }

  /// The same with a value made of this one.
  public func map<Result>(
    _ transform: (Wrapped) throws -> Result
  ) rethrows -> GraphQLNullable<Result> {
    switch self {
    case .absent: .absent
    case .null: .null
    case .value(let value): .value(try transform(value))
    }
  }

  /// Whether there is a value or null.
  public var isIncluded: Bool {
    if case .absent = self { false } else { true }
  }
}

extension GraphQLNullable: Equatable where Wrapped: Equatable {}
extension GraphQLNullable: Hashable where Wrapped: Hashable {}
extension GraphQLNullable: Sendable where Wrapped: Sendable {}

extension GraphQLNullable: Encodable where Wrapped: Encodable {
  /// Encodes null or the value; an absent value outside of an object is null.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .absent, .null: try container.encodeNil()
    case .value(let value): try container.encode(value)
    }
  }
}

extension GraphQLNullable: Decodable where Wrapped: Decodable {
  /// Decodes null or a value.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(Wrapped?.self))
  }
}

extension KeyedDecodingContainer {
  /// Decodes a value that may be null; it is absent if the key is. Synthesized conformances call
  /// this.
  public func decode<Wrapped: Decodable>(
    _ type: GraphQLNullable<Wrapped>.Type, forKey key: Key
  ) throws -> GraphQLNullable<Wrapped> {
    guard contains(key) else { return .absent }
    return GraphQLNullable(try decodeIfPresent(Wrapped.self, forKey: key))
  }
}

extension KeyedEncodingContainer {
  /// Encodes a value that may be null; leaves the key out if the value is absent. Synthesized
  /// conformances call this.
  public mutating func encode<Wrapped: Encodable>(
    _ value: GraphQLNullable<Wrapped>, forKey key: Key
  ) throws {
    switch value {
    case .absent: break
    case .null: try encodeNil(forKey: key)
    case .value(let value): try encode(value, forKey: key)
    }
  }
}

extension GraphQLNullable: ExpressibleByNilLiteral {
  /// Null.
  public init(nilLiteral: ()) { self = .null }
}

extension GraphQLNullable: ExpressibleByUnicodeScalarLiteral
where Wrapped: ExpressibleByUnicodeScalarLiteral {
  /// A value.
  public init(unicodeScalarLiteral value: Wrapped.UnicodeScalarLiteralType) {
    self = .value(Wrapped(unicodeScalarLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByExtendedGraphemeClusterLiteral
where Wrapped: ExpressibleByExtendedGraphemeClusterLiteral {
  /// A value.
  public init(extendedGraphemeClusterLiteral value: Wrapped.ExtendedGraphemeClusterLiteralType) {
    self = .value(Wrapped(extendedGraphemeClusterLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByStringLiteral where Wrapped: ExpressibleByStringLiteral {
  /// A value.
  public init(stringLiteral value: Wrapped.StringLiteralType) {
    self = .value(Wrapped(stringLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByIntegerLiteral where Wrapped: ExpressibleByIntegerLiteral {
  /// A value.
  public init(integerLiteral value: Wrapped.IntegerLiteralType) {
    self = .value(Wrapped(integerLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByFloatLiteral where Wrapped: ExpressibleByFloatLiteral {
  /// A value.
  public init(floatLiteral value: Wrapped.FloatLiteralType) {
    self = .value(Wrapped(floatLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByBooleanLiteral where Wrapped: ExpressibleByBooleanLiteral {
  /// A value.
  public init(booleanLiteral value: Wrapped.BooleanLiteralType) {
    self = .value(Wrapped(booleanLiteral: value))
  }
}

extension GraphQLNullable: ExpressibleByArrayLiteral
where Wrapped: RangeReplaceableCollection & ExpressibleByArrayLiteral {
  /// A list.
  public init(arrayLiteral elements: Wrapped.Element...) { self = .value(Wrapped(elements)) }
}
