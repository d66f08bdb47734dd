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

extension IndexDescriptor {
  /// Whether an Empire store has the index: those of single properties.
  var isKept: Bool { columns.count == 1 && !columns[0].isFolded }

  /// The storage name of the first property.
  var property: String { columns[0].name }
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
    for index in Canonical<V>._schema.indexes where index.isKept {
      let (before, after) = (old?.value(of: index), new?.value(of: index))
      if index.isUnique, let new, let after { try requireUnique(new, after, index, at: row) }
      let (left, entered) = (before.flatMap(IndexPlace.init), after.flatMap(IndexPlace.init))
      if left == entered { continue }
      let table = Canonical<V>._schema.table
      if let left {
        // There is none if the stored bytes are of a version that had no such property.
        _ = try context.delete(
          IndexedValue.query(
            table: table, index: index.property, order: left.order, hash: left.hash,
            number: row.number))
      }
      if let entered { try insert(entered, of: index, table, row) }
    }
  }

  private func insert(
    _ place: IndexPlace, of index: IndexDescriptor, _ table: String, _ row: RowPlace
  ) throws {
    try context.insert(
      IndexedValue(
        table: table, index: index.property, order: place.order, hash: place.hash,
        number: row.number, rowHash: row.hash))
  }

  /// Throws if another value has a unique value of an object.
  private func requireUnique<V: Persistable>(
    _ object: Canonical<V>, _ value: Dflat.Value, _ index: IndexDescriptor, at row: RowPlace
  ) throws {
    guard let place = IndexPlace(value) else { return }
    let schema = Canonical<V>._schema
    let entries = try IndexedValue.select(
      in: context, table: schema.table, index: index.property, order: place.order, hash: place.hash)
    for entry in entries where entry.number != row.number {
      guard let other: Canonical<V> = try self.object(at: entry.place),
        let taken = other.value(of: index),
        KeyValues(first: taken, rest: []) == KeyValues(first: value, rest: [])
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
    guard indexed.insert(schema.table).inserted else { return }
    let context = try context
    let kept = schema.indexes.filter(\.isKept)
    let complete = try CompleteIndex.select(in: context, table: schema.table)
    for index in complete where !kept.contains(where: { $0.property == index.index }) {
      try context.delete(index)
    }
    let missing = kept.filter { index in !complete.contains { $0.index == index.property } }
    if missing.isEmpty { return }
    for index in missing {
      _ = try context.delete(IndexedValue.query(table: schema.table, index: index.property))
      try context.insert(CompleteIndex(table: schema.table, index: index.property))
    }
    for row in try StoredRow.select(in: context, table: schema.table) {
      // A damaged row is found by its id, which says so.
      guard let object: Canonical<V> = try? row.object() else { continue }
      for index in missing {
        guard let place = object.value(of: index).flatMap(IndexPlace.init) else { continue }
        try insert(place, of: index, schema.table, row.place)
      }
    }
  }
}

extension Canonical {
  /// The value of an index with one column; nil if it is unknown.
  fileprivate func value(of index: IndexDescriptor) -> Dflat.Value? {
    let column = index.columns[0]
    return _row.read { row in column.withValue(of: row) { $0.constant(column.field.type) } }
  }
}
