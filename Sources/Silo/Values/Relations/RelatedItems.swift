// RelatedItems: an unordered relation to several values.

import Dflat
public import FlatBuffersRuntime

/// Other values that a value refers to, in no order and without duplicates, each as its id only or
/// as the value itself.
///
/// Two collections are equal if the ids are. Ids are compared as stores do: strings by their bytes.
public struct RelatedItems<Value: Persistable>: Sendable {
  @usableFromInline typealias Key = IDKey<Value.ID>
  @usableFromInline var byID: [Key: RelatedItem<Value>] = [:]

  /// No items.
  @inlinable
  public init() {}

  /// Items in either form. Of several items with one id a resolved one is kept.
  @inlinable
  public init(_ items: some Sequence<RelatedItem<Value>>) {
    byID = Dictionary(minimumCapacity: items.underestimatedCount)
    for item in items { insert(item) }
  }

  /// Items with their values.
  @inlinable
  public init(_ values: some Sequence<Value>) { self.init(values.map { RelatedItem($0) }) }

  /// Items whose values are not known.
  @inlinable
  public init(ids: some Sequence<Value.ID>) {
    byID = Dictionary(minimumCapacity: ids.underestimatedCount)
    for id in ids { byID[Key(id)] = .unresolved(id: id) }
  }

  /// The ids of all items, in the order of their stored bytes. They are no `Set`: that would lose
  /// one of two strings that Swift considers equal and stores do not.
  @inlinable
  public var ids: [Value.ID] { byID.keys.map(\.key).inCanonicalOrder { $0._key } }

  /// The values of the resolved items.
  @inlinable
  public var values: [Value] { byID.values.compactMap { $0.value } }

  /// Whether there is an item with an id.
  @inlinable
  public func contains(id: Value.ID) -> Bool { byID[Key(id)] != nil }

  /// The item with an id; nil if there is none.
  @inlinable
  public subscript(id id: Value.ID) -> RelatedItem<Value>? { byID[Key(id)] }

  /// Adds an item. An item with its id is replaced, unless only that one is resolved.
  @inlinable
  public mutating func insert(_ item: RelatedItem<Value>) {
    let key = Key(item.id)
    if !item.isResolved, byID[key] != nil { return }
    byID[key] = item
  }

  /// Adds an item with its value.
  @inlinable
  public mutating func insert(_ value: Value) { insert(.resolved(value)) }

  /// Adds an item whose value is not known.
  @inlinable
  public mutating func insert(id: Value.ID) { insert(.unresolved(id: id)) }

  /// Removes the item with an id.
  /// - Returns: The item; nil if there was none.
  @discardableResult
  public mutating func remove(id: Value.ID) -> RelatedItem<Value>? {
    byID.removeValue(forKey: Key(id))
  }
}

extension RelatedItems: Collection {
  /// A position.
  public struct Index: Comparable {
    @usableFromInline let base: Dictionary<Key, RelatedItem<Value>>.Index

    @inlinable
    init(base: Dictionary<Key, RelatedItem<Value>>.Index) { self.base = base }

    /// Compares positions.
    @inlinable
    public static func < (lhs: Index, rhs: Index) -> Bool { lhs.base < rhs.base }
  }

  /// The first position.
  @inlinable
  public var startIndex: Index { Index(base: byID.startIndex) }
  /// The position behind the last item.
  @inlinable
  public var endIndex: Index { Index(base: byID.endIndex) }
  /// The next position.
  @inlinable
  public func index(after i: Index) -> Index { Index(base: byID.index(after: i.base)) }
  /// The item at a position.
  @inlinable
  public subscript(position: Index) -> RelatedItem<Value> { byID[position.base].value }
  /// The number of items.
  @inlinable
  public var count: Int { byID.count }
}

extension RelatedItems: Hashable {
  /// Compares the ids.
  public static func == (lhs: RelatedItems, rhs: RelatedItems) -> Bool {
    lhs.count == rhs.count && lhs.byID.keys.allSatisfy { rhs.byID[$0] != nil }
  }
  /// Hashes the ids.
  public func hash(into hasher: inout Hasher) { hasher.combine(Set(byID.keys)) }
}

extension RelatedItems where Value: Equatable {
  /// Whether both have the same ids, each with equal values or none.
  public func isIdentical(to other: RelatedItems) -> Bool {
    count == other.count && byID.allSatisfy { other.byID[$0]?.isIdentical(to: $1) == true }
  }
}

extension RelatedItems: ExpressibleByArrayLiteral {
  /// Items in either form.
  public init(arrayLiteral elements: RelatedItem<Value>...) { self.init(elements) }
}

extension RelatedItems: Encodable where Value: Encodable, Value.ID: Encodable {
  /// Encodes ids and values.
  public func encode(to encoder: any Encoder) throws { try Array(byID.values).encode(to: encoder) }
}

extension RelatedItems: Decodable where Value: Decodable, Value.ID: Decodable {
  /// Decodes ids and values.
  public init(from decoder: any Decoder) throws {
    self.init(try [RelatedItem<Value>](from: decoder))
  }
}

extension RelatedItems: PersistableProperty {
  /// A vector of keys.
  public static var _form: PropertyForm {
    [Value.ID._Key]._form.keys { Value._canonical.entity }
  }
  /// No items.
  public static var _absent: RelatedItems? { RelatedItems() }

  /// Writes the keys.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    byID.keys.map { $0.key._key }.inCanonicalOrder { $0 }._write(to: builder)
  }

  /// Reads the keys.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> RelatedItems? {
    let ids = try Value.ID._Key._readElements(table, at: field) {
      try RelatedItem<Value>.readID($0)
    }
    return ids.map { RelatedItems(ids: $0) }
  }
}
