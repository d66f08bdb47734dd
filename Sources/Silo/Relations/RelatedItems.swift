// RelatedItems: an unordered relation to several values.

public import Dflat
public import FlatBuffersRuntime

/// Other values that a value refers to, in no order and without duplicates, each as its id only or
/// as the value itself.
///
/// Two collections are equal if the ids are.
public struct RelatedItems<Value: Persistable>: Sendable {
  private var byID: [Value.ID: RelatedItem<Value>] = [:]

  /// No items.
  public init() {}

  /// Items in either form. Of several items with one id a resolved one is kept.
  public init(_ items: some Sequence<RelatedItem<Value>>) {
    for item in items { insert(item) }
  }

  /// Items with their values.
  public init(_ values: some Sequence<Value>) { self.init(values.map(RelatedItem.init)) }

  /// Items whose values are not known.
  public init(ids: some Sequence<Value.ID>) {
    byID.reserveCapacity(ids.underestimatedCount)
    for id in ids { byID[id] = .unresolved(id: id) }
  }

  /// The ids of all items.
  public var ids: Set<Value.ID> { Set(byID.keys) }

  /// The values of the resolved items.
  public var values: [Value] { byID.values.compactMap(\.value) }

  /// Whether there is an item with an id.
  public func contains(id: Value.ID) -> Bool { byID[id] != nil }

  /// The item with an id; nil if there is none.
  public subscript(id id: Value.ID) -> RelatedItem<Value>? { byID[id] }

  /// Adds an item. An item with its id is replaced, unless only that one is resolved.
  public mutating func insert(_ item: RelatedItem<Value>) {
    if !item.isResolved, byID[item.id] != nil { return }
    byID[item.id] = item
  }

  /// Adds an item with its value.
  public mutating func insert(_ value: Value) { insert(.resolved(value)) }

  /// Adds an item whose value is not known.
  public mutating func insert(id: Value.ID) { insert(.unresolved(id: id)) }

  /// Removes the item with an id.
  /// - Returns: The item; nil if there was none.
  @discardableResult
  public mutating func remove(id: Value.ID) -> RelatedItem<Value>? {
    byID.removeValue(forKey: id)
  }
}

extension RelatedItems: Collection {
  /// A position.
  public struct Index: Comparable {
    fileprivate let base: Dictionary<Value.ID, RelatedItem<Value>>.Index
    /// Compares positions.
    public static func < (lhs: Index, rhs: Index) -> Bool { lhs.base < rhs.base }
  }

  /// The first position.
  public var startIndex: Index { Index(base: byID.startIndex) }
  /// The position behind the last item.
  public var endIndex: Index { Index(base: byID.endIndex) }
  /// The next position.
  public func index(after i: Index) -> Index { Index(base: byID.index(after: i.base)) }
  /// The item at a position.
  public subscript(position: Index) -> RelatedItem<Value> { byID[position.base].value }
}

extension RelatedItems: Hashable {
  /// Compares the ids.
  public static func == (lhs: RelatedItems, rhs: RelatedItems) -> Bool { lhs.ids == rhs.ids }
  /// Hashes the ids.
  public func hash(into hasher: inout Hasher) { hasher.combine(ids) }
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
  public static var _form: PropertyForm { [Value.ID._Key]._form }
  /// The value's entity.
  public static var _target: (@Sendable () -> EntitySchema)? { { Value._canonical.entity } }
  /// No items.
  public static var _absent: RelatedItems? { RelatedItems() }

  /// Writes the keys.
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    let keys = byID.keys.map(\._key).inCanonicalOrder { $0 }
    return keys._write(to: builder)
  }

  /// Reads the keys.
  public static func _read(_ table: TableReader, at field: Int) throws -> RelatedItems? {
    try [Value.ID._Key]._read(table, at: field).map { keys in
      RelatedItems(ids: try keys.map(RelatedItem<Value>.readID))
    }
  }
}
