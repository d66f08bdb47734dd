// IDKey: ids as keys of dictionaries, equal if stores consider them equal.
//
// It is inlinable, so that a dictionary of a program's values is compiled for their type of id.

/// An id, or its stored form, as a key of dictionaries: compared as stores compare it.
@frozen
@usableFromInline package struct IDKey<Key: PersistableID>: Hashable, Sendable {
  /// The id, or its stored form.
  @usableFromInline package let key: Key

  /// A key.
  @inlinable
  package init(_ key: Key) { self.key = key }

  /// Compares the bytes.
  @inlinable
  package static func == (lhs: IDKey, rhs: IDKey) -> Bool { Key._isSame(lhs.key, rhs.key) }

  /// Hashes the id: ids of the same bytes are equal.
  @inlinable
  package func hash(into hasher: inout Hasher) { key.hash(into: &hasher) }

  /// The same in one step, which integers have a faster one for.
  @inlinable
  package func _rawHashValue(seed: Int) -> Int { key._rawHashValue(seed: seed) }
}

extension PersistableID where _Key == Self {
  /// The id itself.
  @inlinable
  public var _key: Self { self }
  /// The id itself.
  @inlinable
  public init?(_key: Self) { self = _key }
  /// Equal ids are the same.
  @inlinable
  public static func _isSame(_ left: Self, _ right: Self) -> Bool { left == right }
}

extension String {
  /// Compares the bytes: strings that Swift considers equal may have different ones.
  @inlinable
  public static func _isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }
}
