// The indexes of a transaction's types, which are kept with the rows.
//
// An index is complete, or it is not used. The first transaction that changes values of a type
// makes the entries that are missing: those of values which were stored before the property had an
// index. A program whose type has no such index any more, and which would not keep its entries,
// says that it is not complete.

import Dflat
import Empire
import FlatBuffersRuntime
import Silo

/// An index that an Empire store keeps.
enum KeptIndex {
  /// Of a single property.
  case property(IndexDescriptor)
  /// Of the elements of a relation.
  case elements(ElementIndex)

  /// The index that the planner names by a position; nil if the store does not keep it.
  init?(of schema: EntitySchema, at place: Int) {
    guard let index = schema.keptIndexes.first(where: { $0.place == place }) else { return nil }
    self = index.index
  }

  /// What files call the index: the storage name of its property, and the default, which rows do
  /// not contain. So programs with different defaults have indexes of their own.
  var name: String {
    switch self {
    case .elements(let index): return "f\(index.offset)"
    case .property(let index):
      let column = index.columns[0]
      return switch column.reader.absentValue {
      case .ordinary: column.name
      case .unknown: "\(column.name)?"
      case .value(let value):
        IndexPlace(value).map { "\(column.name)=\($0.order)-\($0.hash)" } ?? column.name
      }
    }
  }

  /// Where a row is in the index.
  func places(of row: TableReader) -> Set<IndexPlace> {
    var places: Set<IndexPlace> = []
    func add(_ value: ColumnValue, _ type: ValueType) {
      if let place = IndexPlace(value, type) { places.insert(place) }
    }
    switch self {
    case .property(let index):
      let column = index.columns[0]
      column.withValue(of: row) { add($0, column.field.type) }
    case .elements(let index): index.forEachElement(of: row) { add($0, index.type) }
    }
    return places
  }
}

extension EntitySchema {
  /// The indexes that an Empire store keeps, and their positions for the planner.
  var keptIndexes: [(place: Int, index: KeptIndex)] {
    let properties = indexes.indices.filter { place in
      indexes[place].columns.count == 1 && !indexes[place].columns[0].isFolded
    }
    return properties.map { ($0, .property(indexes[$0])) }
      + elementIndexes.indices.map { (elementPosition($0), .elements(elementIndexes[$0])) }
  }
}

extension EmpireTransaction {
  /// Changes the entries of a row, which is changed afterwards.
  /// - Parameters:
  ///   - old: What is stored; nil if nothing is.
  ///   - new: What will be stored; nil if nothing will be.
  /// - Throws: `StorageError` if another value has one of its unique values.
  func updateIndexes<V: Persistable>(
    from old: Canonical<V>?, to new: Canonical<V>?, at row: RowPlace
  ) throws {
    try completeIndexes(of: V.self)
    let table = Canonical<V>._schema.table
    for (_, index) in Canonical<V>._schema.keptIndexes {
      let left = old?._row.read(index.places) ?? []
      let entered = new?._row.read(index.places) ?? []
      if case .property(let unique) = index, unique.isUnique, let new, let place = entered.first,
        left != entered || old?.hasSameText(as: new, in: unique) == false
      {
        try requireUnique(new, place, index.name, unique, at: row)
      }
      for place in left.subtracting(entered) {
        // There is none if the stored bytes are of a version that had no such property.
        try removeEntry(index.name, table, order: place.order, hash: place.hash, of: row)
      }
      for place in entered.subtracting(left) { try insert(place, of: index, table, row) }
    }
  }

  /// Removes an entry of a row, if there is one.
  func removeEntry(
    _ index: String, _ table: String, order: UInt64, hash: UInt64, of row: RowPlace
  ) throws {
    _ = try context.delete(
      IndexedValue.query(
        table: table, index: index, order: order, hash: hash, number: row.number))
  }

  /// The indexes of a table that are complete. If that cannot be read, all of them are removed, and
  /// the next change makes them again.
  private func completeIndexes(of table: String) throws -> [CompleteIndex] {
    let context = try context
    do { return try CompleteIndex.select(in: context, table: table) } catch is StoreError {
      _ = try context.delete(CompleteIndex.query(table: table))
      _ = try context.delete(IndexedValue.query(table: table))
      return []
    }
  }

  /// Removes all entries of a row that cannot be read.
  func removeEntries(of row: RowPlace, in table: String) throws {
    let context = try context
    var entries: [IndexedValue] = []
    for index in try completeIndexes(of: table) {
      try context.forEach(IndexedValue.query(table: table, index: index.index)) { entry in
        if entry.number == row.number { entries.append(entry) }
        return true
      }
    }
    for entry in entries { try context.delete(entry) }
  }

  private func insert(
    _ place: IndexPlace, of index: KeptIndex, _ table: String, _ row: RowPlace
  ) throws {
    try context.insert(
      IndexedValue(
        table: table, index: index.name, order: place.order, hash: place.hash,
        number: row.number, rowHash: row.hash))
  }

  /// Throws if another value has a unique value of an object.
  private func requireUnique<V: Persistable>(
    _ object: Canonical<V>, _ place: IndexPlace, _ name: String, _ index: IndexDescriptor,
    at row: RowPlace
  ) throws {
    let schema = Canonical<V>._schema
    let entries = try IndexedValue.select(
      in: context, table: schema.table, index: name, order: place.order, hash: place.hash)
    for entry in entries where entry.number != row.number {
      guard let other: Canonical<V> = try self.object(at: entry.place),
        other.hasSameText(as: object, in: index)
      else { continue }
      throw StorageError(
        .alreadyExists, table: schema.table,
        key: object._row.read { schema.describe(index.columns, of: $0) },
        message: "the value with the id \(other.id) has it")
    }
  }

  /// Makes entries for all values, unless there are.
  private func completeIndexes<V: Persistable>(of type: V.Type) throws {
    let schema = Canonical<V>._schema
    guard indexed.insert(ObjectIdentifier(type)).inserted else { return }
    let context = try context
    let kept = schema.keptIndexes.map(\.index)
    let complete = try completeIndexes(of: schema.table)
    let names = kept.map(\.name) + RowOrder.indexes(of: V.self)
    for index in complete where !names.contains(index.index) {
      _ = try context.delete(IndexedValue.query(table: schema.table, index: index.index))
      try context.delete(index)
    }
    let known = complete.map(\.index)
    let missing = kept.filter { !known.contains($0.name) }
    let missingNames = names.filter { !known.contains($0) }
    if missingNames.isEmpty { return }
    for index in missingNames {
      _ = try context.delete(IndexedValue.query(table: schema.table, index: index))
      try context.insert(CompleteIndex(table: schema.table, index: index))
    }
    for row in try StoredRow.select(in: context, table: schema.table) {
      // A damaged row is found by its id, which says so.
      let object: Canonical<V>? = try? row.object()
      for entry in RowOrder.entries(of: object, schema.table, row.place)
      where missingNames.contains(entry.index) {
        try context.insert(entry)
      }
      guard let object else { continue }
      for index in missing {
        for place in object._row.read(index.places) {
          try insert(place, of: index, schema.table, row.place)
        }
      }
    }
  }
}

extension Canonical {
  /// Whether two objects in one place of an index have the same value there. Only texts may differ.
  fileprivate func hasSameText(as other: Canonical, in index: IndexDescriptor) -> Bool {
    let column = index.columns[0]
    guard column.field.type == .string else { return true }
    return _row.read { row in other._row.read { column.hasSameValue(row, $0) } }
  }
}
