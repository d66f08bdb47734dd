// MemoryTable: the rows of one entity type, found by id, by primary key and by the values of
// indexed fields.
//
// Invariants:
//
//  - Each row has one entry in the key map and one in every index, with the row's values.
//  - No two rows have the same primary key.
//  - A refused change has no effect.
//
// Two versions of a schema may use one table at the same time. They agree on keys; each has the
// indexes that its schema names, and every write updates all of them.

import Dflat
import FlatBuffersRuntime
import Platform

struct MemoryTable: Sendable {
  /// A row and its key, as read by the version of the schema that wrote it.
  struct Stored: Sendable {
    let row: Row
    let key: SortKey
  }

  struct Index: Sendable {
    let columns: [IndexColumn]
    /// Identifies the index: the columns, and the defaults for absent fields.
    let name: String
    /// The ids of rows by their values, followed by the id.
    var entries = SortedMap<Int64>()
  }

  let name: String
  let ids: RowIDs
  private(set) var rows = SortedMap<Stored>()
  private(set) var keys = SortedMap<Row>()
  private(set) var indexes: [Index] = []
  /// The number of versions of the schema that have written.
  private(set) var versionCount = 0

  /// Prepares the table for another version of its schema: missing indexes are built.
  /// - Returns: The positions of the version's indexes.
  mutating func register(_ schema: EntitySchema) -> [Int] {
    versionCount += 1
    return schema.indexes.map { index in
      let columns = index.columns
      let name = columns.map { "\($0.name) \($0.reader.absentValue)" }.joined(separator: ", ")
      if let place = indexes.firstIndex(where: { $0.name == name }) { return place }
      var index = Index(columns: columns, name: name)
      rows.forEach { _, stored in
        index.replace(nil, by: stored.row)
        return true
      }
      indexes.append(index)
      return indexes.count - 1
    }
  }

  /// Calls `body` with the rows with greater ids, or with nil all, in ascending order, until it
  /// returns false.
  func forEachRow(after id: Int64?, _ body: (Row) throws -> Bool) rethrows {
    let range = KeyRange(lower: id.map { SortKey(KeyView(id: $0)) })
    try rows.forEach(in: range) { _, stored in
      try stored.row.id == id || body(stored.row)
    }
  }

  // MARK: Changes

  /// - Parameter places: The positions of the schema's indexes.
  mutating func insert(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, places: [Int]
  ) throws -> Int64 {
    let row = Row(sound: bytes, id: ids.next())
    try put(row, schema, places)
    return row.id
  }

  /// Stores a row under its own id.
  mutating func insert(keepingIDOf row: Row, _ schema: EntitySchema, places: [Int]) throws {
    ids.use(row.id)
    try put(row.withBytes { Row(sound: $0, id: row.id) }, schema, places)
  }

  mutating func update(
    to new: Row, id: Int64, _ schema: EntitySchema, places: [Int]
  ) throws {
    guard let old = rows.find(KeyView(id: id)) else {
      throw StorageError(
        .missing, table: name, rowid: id, message: "there is no such row to update")
    }
    try put(new.withBytes { Row(sound: $0, id: id) }, schema, places, replacing: old)
  }

  mutating func delete(id: Int64) {
    guard let old = rows.remove(KeyView(id: id)) else { return }
    _ = old.key.withView { keys.remove($0) }
    for place in indexes.indices { indexes[place].replace(old.row, by: nil) }
  }

  private mutating func put(
    _ row: Row, _ schema: EntitySchema, _ places: [Int], replacing old: Stored? = nil
  ) throws {
    let key = schema.key(of: row)
    let other = keys.set(key, row)
    do throws(StorageError) {
      if let other, other.id != row.id {
        throw taken(by: other.id, row.read { schema.describeKey(of: $0) })
      }
      for (place, index) in zip(places, schema.indexes) where index.isUnique {
        let index = indexes[place]
        // What was stored twice before the values became unique stops only changes of them.
        if let old, index.key(of: old.row) == index.key(of: row) { continue }
        if let id = index.otherRow(like: row) {
          throw taken(by: id, row.read { schema.describe(index.columns, of: $0) })
        }
      }
    } catch {
      if let other { keys.set(key, other) } else { _ = key.withView { keys.remove($0) } }
      throw error
    }
    if let old, old.key != key { _ = old.key.withView { keys.remove($0) } }
    rows.set(SortKey(KeyView(id: row.id)), Stored(row: row, key: key))
    for place in indexes.indices { indexes[place].replace(old?.row, by: row) }
  }

  private func taken(by id: Int64, _ values: String) -> StorageError {
    StorageError(
      .alreadyExists, table: name, rowid: id, key: values,
      message: "another object has it already")
  }
}

extension EntitySchema {
  /// The primary key of a row.
  func key(of row: Row) -> SortKey {
    KeyWriter.key { writer in
      row.read { row in
        for reader in keyReaders { writer.append(reader.read(row), reader.field.type) }
      }
    }
  }
}

extension MemoryTable.Index {
  private func write(_ row: Row, into writer: inout KeyWriter) {
    row.read { row in
      for column in columns { column.withValue(of: row) { writer.append($0, column.field.type) } }
    }
  }

  fileprivate func key(of row: Row) -> SortKey {
    KeyWriter.key { writer in
      write(row, into: &writer)
      writer.append(.integer(row.id), .int64)
    }
  }

  /// Changes the entry of a row. A row that is missing has none.
  fileprivate mutating func replace(_ old: Row?, by new: Row?) {
    let (before, after) = (old.map(key), new.map(key))
    if before == after { return }
    _ = before?.withView { entries.remove($0) }
    if let new, let after { entries.set(after, new.id) }
  }

  /// Another row with the same values, none of which is null; nil if there is none.
  fileprivate func otherRow(like row: Row) -> Int64? {
    let values = KeyWriter.with({ write(row, into: &$0) }) { $0.hasNull ? nil : $0.codes }
    guard let values else { return nil }
    var other: Int64?
    entries.forEach(in: KeyRange(from: values, through: values)) { _, id in
      if id != row.id { other = id }
      return other == nil
    }
    return other
  }
}

/// The row ids of a table. An id is never reused, even if the change that used it was rolled back.
final class RowIDs: Sendable {
  private let last = Atomic<Int64>(0)

  func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }

  /// Makes sure that `next` returns greater ids than this one.
  func use(_ id: Int64) { last.max(id, ordering: .relaxed) }
}
