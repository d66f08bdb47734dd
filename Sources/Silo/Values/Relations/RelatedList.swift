// RelatedList: an ordered relation to several values.

import Dflat
public import FlatBuffersRuntime

/// Other values that a value refers to, in order, each as its id only or as the value itself. A
/// value may occur several times.
///
/// Two lists are equal if their ids are, in order.
public struct RelatedList<Value: Persistable>: Hashable, Sendable {
  @usableFromInline var items: [RelatedItem<Value>]

  /// An empty list.
  @inlinable
  public init() { items = [] }

  @inlinable
  init(items: [RelatedItem<Value>]) { self.items = items }

  /// Items in either form.
  @inlinable
  public init(_ items: some Sequence<RelatedItem<Value>>) { self.items = Array(items) }

  /// Items with their values.
  @inlinable
  public init(_ values: some Sequence<Value>) { items = values.map { RelatedItem($0) } }

  /// Items whose values are not known.
  @inlinable
  public init(ids: some Sequence<Value.ID>) {
    items = ids.map { RelatedItem.unresolved(id: $0) }
  }

  /// The ids, in order.
  @inlinable
  public var ids: [Value.ID] { items.map { $0.id } }

  /// The values of the resolved items, in order.
  @inlinable
  public var values: [Value] { items.compactMap { $0.value } }

  /// Adds an item with its value at the end.
  @inlinable
  public mutating func append(_ value: Value) { items.append(.resolved(value)) }

  /// Adds an item whose value is not known at the end.
  @inlinable
  public mutating func append(id: Value.ID) { items.append(.unresolved(id: id)) }
}

extension RelatedList: RandomAccessCollection, MutableCollection, RangeReplaceableCollection {
  /// Always zero.
  @inlinable
  public var startIndex: Int { 0 }
  /// The number of items.
  @inlinable
  public var endIndex: Int { items.count }
  /// The item at a position.
  @inlinable
  public subscript(position: Int) -> RelatedItem<Value> {
    get { items[position] }
    set { items[position] = newValue }
  }
  /// Goes through the items in order.
  @inlinable
  public func makeIterator() -> IndexingIterator<[RelatedItem<Value>]> { items.makeIterator() }
  /// Replaces the items at some positions.
  public mutating func replaceSubrange(
    _ subrange: Range<Int>, with newElements: some Collection<RelatedItem<Value>>
  ) {
    items.replaceSubrange(subrange, with: newElements)
  }
}

extension RelatedList where Value: Equatable {
  /// Whether both have the same ids in the same order, each with equal values or none.
  public func isIdentical(to other: RelatedList) -> Bool {
    count == other.count && zip(items, other.items).allSatisfy { $0.isIdentical(to: $1) }
  }
}

extension RelatedList: ExpressibleByArrayLiteral {
  /// Items in either form.
  public init(arrayLiteral elements: RelatedItem<Value>...) { items = elements }
}

extension RelatedList: Encodable where Value: Encodable, Value.ID: Encodable {
  /// Encodes ids and values.
  public func encode(to encoder: any Encoder) throws { try items.encode(to: encoder) }
}

extension RelatedList: Decodable where Value: Decodable, Value.ID: Decodable {
  /// Decodes ids and values.
  public init(from decoder: any Decoder) throws {
    items = try [RelatedItem<Value>](from: decoder)
  }
}

extension RelatedList: PersistableProperty {
  /// A vector of keys.
  public static var _form: PropertyForm {
    [Value.ID._Key]._form.keys { Value._canonical.entity }
  }
  /// No items.
  public static var _absent: RelatedList? { RelatedList() }

  /// Writes the keys.
  @inlinable
  public func _write(to builder: CanonicalBuilder) -> WrittenProperty {
    items.map { $0.id._key }._write(to: builder)
  }

  /// Reads the keys.
  @inlinable
  public static func _read(_ table: TableReader, at field: Int) throws -> RelatedList? {
    let items = try Value.ID._Key._readElements(table, at: field) {
      RelatedItem<Value>.unresolved(id: try RelatedItem<Value>.readID($0))
    }
    return items.map { RelatedList(items: $0) }
  }
}
