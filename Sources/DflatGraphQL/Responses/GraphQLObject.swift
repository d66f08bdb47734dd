// GraphQLObject: the structures that responses are decoded into.
//
// Generated code names the fields of a structure twice: where it is decoded, and in `_visit`, from
// which encoding, equality and hashing follow. What the compiler would synthesize for these is most
// of what it has to compile of a large program.

/// An object of a response: the fields that an operation selects. Conformances are generated.
public protocol GraphQLObject: Codable, Hashable, Sendable {
  /// Shows every field to a visitor, with that of another object, for generated code.
  func _visit(_ fields: inout GraphQLFieldVisitor, _ other: Self)
}

extension GraphQLObject {
  /// Encodes the fields under the keys that they have in a response.
  /// - Throws: `EncodingError` if a value cannot be encoded.
  public func encode(to encoder: any Encoder) throws {
    var fields = GraphQLFieldVisitor(.encoding(encoder, encoder.container(keyedBy: PathKey.self)))
    _visit(&fields, self)
    if let error = fields.error { throw error }
  }

  /// Compares field by field.
  public static func == (left: Self, right: Self) -> Bool {
    var fields = GraphQLFieldVisitor(.comparing)
    left._visit(&fields, right)
    return fields.isEqual
  }

  /// Hashes every field.
  public func hash(into hasher: inout Hasher) {
    var fields = GraphQLFieldVisitor(.hashing(hasher))
    _visit(&fields, self)
    if case .hashing(let whole) = fields.purpose { hasher = whole }
  }

  /// The hash of all fields.
  public var hashValue: Int {
    var hasher = Hasher()
    hash(into: &hasher)
    return hasher.finalize()
  }
}

/// Reads the fields of an object in a response. Generated code uses it.
public struct GraphQLFieldReader {
  private let container: KeyedDecodingContainer<PathKey>

  /// Creates a reader of an object's fields.
  /// - Throws: `DecodingError` if the response has something else than an object.
  public init(_ decoder: any Decoder) throws {
    container = try decoder.container(keyedBy: PathKey.self)
  }

  /// A string.
  public func string(_ key: String) throws -> String { try value(key) }
  /// A string, or null.
  public func optionalString(_ key: String) throws -> String? { try optional(key) }
  /// An integer.
  public func int(_ key: String) throws -> Int { try value(key) }
  /// An integer, or null.
  public func optionalInt(_ key: String) throws -> Int? { try optional(key) }
  /// A number.
  public func double(_ key: String) throws -> Double { try value(key) }
  /// A number, or null.
  public func optionalDouble(_ key: String) throws -> Double? { try optional(key) }
  /// A Boolean.
  public func bool(_ key: String) throws -> Bool { try value(key) }
  /// A Boolean, or null.
  public func optionalBool(_ key: String) throws -> Bool? { try optional(key) }

  /// The text of a custom scalar without a type of its own; of what is not text, the JSON.
  public func text(_ key: String) throws -> String { (try value(key) as GraphQLText).text }
  /// The text of such a custom scalar, or null.
  public func optionalText(_ key: String) throws -> String? {
    (try optional(key) as GraphQLText?)?.text
  }
  /// The text of such a custom scalar, which may be left out.
  public func nullableText(_ key: String) throws -> GraphQLNullable<String> {
    (try nullable(key) as GraphQLNullable<GraphQLText>).map(\.text)
  }

  /// A value of any type.
  public func value<Value: Decodable>(_ key: String) throws -> Value {
    let key = PathKey(stringValue: key)
    do { return try container.decode(Value.self, forKey: key) } catch {
      throw located(error, key, Value.self)
    }
  }

  /// A value of any type, or null.
  public func optional<Value: Decodable>(_ key: String) throws -> Value? {
    let key = PathKey(stringValue: key)
    do { return try container.decodeIfPresent(Value.self, forKey: key) } catch {
      throw located(error, key, Value.self)
    }
  }

  /// A value that may be left out.
  public func nullable<Value: Decodable>(_ key: String) throws -> GraphQLNullable<Value> {
    let key = PathKey(stringValue: key)
    do { return try container.decode(GraphQLNullable<Value>.self, forKey: key) } catch {
      throw located(error, key, Value.self)
    }
  }

  private func located<Value>(
    _ error: any Error, _ key: PathKey, _ type: Value.Type
  ) -> any Error {
    if let error = error as? DecodingError, error.hasPath { return error }
    return DecodingError(error, container, key, type)
  }
}

/// Sees the fields of an object, to encode, compare or hash them. Generated code uses it.
public struct GraphQLFieldVisitor {
  enum Purpose {
    case encoding(any Encoder, KeyedEncodingContainer<PathKey>)
    case comparing
    case hashing(Hasher)
  }

  private(set) var purpose: Purpose
  private(set) var isEqual = true
  /// The first error; nothing is encoded after it.
  private(set) var error: (any Error)?

  init(_ purpose: Purpose) { self.purpose = purpose }

  /// A string.
  public mutating func string(_ key: String, _ value: String, _ other: String) {
    self.value(key, value, other)
  }

  /// A string, or null.
  public mutating func optionalString(_ key: String, _ value: String?, _ other: String?) {
    optional(key, value, other)
  }

  /// An integer.
  public mutating func int(_ key: String, _ value: Int, _ other: Int) {
    self.value(key, value, other)
  }

  /// An integer, or null.
  public mutating func optionalInt(_ key: String, _ value: Int?, _ other: Int?) {
    optional(key, value, other)
  }

  /// A number.
  public mutating func double(_ key: String, _ value: Double, _ other: Double) {
    self.value(key, value, other)
  }

  /// A number, or null.
  public mutating func optionalDouble(_ key: String, _ value: Double?, _ other: Double?) {
    optional(key, value, other)
  }

  /// A Boolean.
  public mutating func bool(_ key: String, _ value: Bool, _ other: Bool) {
    self.value(key, value, other)
  }

  /// A Boolean, or null.
  public mutating func optionalBool(_ key: String, _ value: Bool?, _ other: Bool?) {
    optional(key, value, other)
  }

  /// A value of any type.
  public mutating func value<Value: Encodable & Hashable>(
    _ key: String, _ value: Value, _ other: Value
  ) {
    visit(value, other) { try $0.encode(value, forKey: PathKey(stringValue: key)) }
  }

  /// A value of any type, or null.
  public mutating func optional<Value: Encodable & Hashable>(
    _ key: String, _ value: Value?, _ other: Value?
  ) {
    visit(value, other) { try $0.encodeIfPresent(value, forKey: PathKey(stringValue: key)) }
  }

  /// A value that may be left out.
  public mutating func nullable<Value: Encodable & Hashable>(
    _ key: String, _ value: GraphQLNullable<Value>, _ other: GraphQLNullable<Value>
  ) {
    visit(value, other) { try $0.encode(value, forKey: PathKey(stringValue: key)) }
  }

  /// What is selected of some types only: its fields stand in the same object.
  public mutating func view<View: Encodable & Hashable>(_ value: View?, _ other: View?) {
    guard case .encoding(let encoder, _) = purpose else { return visit(value, other) { _ in } }
    guard error == nil, let value else { return }
    do { try value.encode(to: encoder) } catch { self.error = error }
  }

  private mutating func visit<Value: Hashable>(
    _ value: Value, _ other: Value,
    _ encode: (inout KeyedEncodingContainer<PathKey>) throws -> Void
  ) {
    switch purpose {
    case .comparing:
      if isEqual { isEqual = value == other }
    case .hashing(var hasher):
      hasher.combine(value)
      purpose = .hashing(hasher)
    case .encoding(let encoder, var container):
      if error != nil { return }
      do { try encode(&container) } catch { self.error = error }
      purpose = .encoding(encoder, container)
    }
  }
}
