// RelatedItem: a relation to one value, which may not be fetched yet.

import Dflat
public import FlatBuffersRuntime

/// Another value that a value refers to: only its id, or the value itself.
///
///     var owner: RelatedItem<User>
///     …
///     if let name = task.owner.value?.name { show(name) }
///
/// Two items are equal if their ids are, compared as stores do, by their bytes. The id is stored.
public enum RelatedItem<Value: Persistable>: Sendable {
  /// Only the id is known.
  case unresolved(id: Value.ID)
  /// The value is known.
  indirect case resolved(Value)

  /// An item whose value is not known.
  @inlinable
  public init(id: Value.ID) { self = .unresolved(id: id) }

  /// An item with its value.
  @inlinable
  public init(_ value: Value) { self = .resolved(value) }

  /// The id of the value.
  @inlinable
  public var id: Value.ID {
    switch self {
    case .unresolved(let id): id
    case .resolved(let value): value.id
    }
  }

  /// The value; nil if it is not known.
  @inlinable
  public var value: Value? {
    if case .resolved(let value) = self { value } else { nil }
  }

  /// Whether the value is known.
  @inlinable
  public var isResolved: Bool { if case .resolved = self { true } else { false } }

  /// The same item without its value.
  public var unresolved: RelatedItem { .unresolved(id: id) }
}

extension RelatedItem: Hashable {
  /// Compares the ids.
  @inlinable
  public static func == (lhs: RelatedItem, rhs: RelatedItem) -> Bool {
    Value.ID._isSame(lhs.id, rhs.id)
  }
  /// Hashes the id.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension RelatedItem where Value: Equatable {
  /// Whether both have the same id, and equal values or none.
  public func isIdentical(to other: RelatedItem) -> Bool {
    self == other && value == other.value
  }
}

extension RelatedItem: Identifiable {}

extension RelatedItem: Encodable where Value: Encodable, Value.ID: Encodable {
  /// Encodes the value if it is known, and the id otherwise.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .unresolved(let id): try id.encode(to: encoder)
    case .resolved(let value): try value.encode(to: encoder)
    }
  }
}

extension RelatedItem: Decodable where Value: Decodable, Value.ID: Decodable {
  /// Decodes a value, or an id.
  public init(from decoder: any Decoder) throws {
    if let value = try? Value(from: decoder) {
      self = .resolved(value)
    } else {
      self = .unresolved(id: try Value.ID(from: decoder))
    }
  }
}

extension RelatedItem: PersistableProperty {
  /// As the key.
  public static var _form: PropertyForm {
    Value.ID._Key._form.keys { Value._canonical.entity }
  }

  /// Writes the key.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    id._key._write(to: builder)
  }

  /// Reads the key.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> RelatedItem? {
    guard let key = try Value.ID._Key._read(table, at: field) else { return nil }
    return .unresolved(id: try readID(key))
  }

  @inlinable
  static func readID(_ key: Value.ID._Key) throws -> Value.ID {
    if let id = Value.ID(_key: key) { return id }
    throw unreadable(key)
  }

  @usableFromInline
  static func unreadable(_ key: Value.ID._Key) -> UnreadableValue {
    UnreadableValue("", "is no \(Value.ID.self): \(key)")
  }
}
