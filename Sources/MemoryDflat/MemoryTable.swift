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
    let key: KeyTuple
  }

  struct Index: Sendable {
    let columns: [IndexColumn]
    /// Identifies the index: the columns, and the defaults for absent fields.
    let name: String
    var entries = SortedMap<IndexEntry, Void>()
  }

  private let name: String
  private let ids: RowIDs
  private(set) var rows = SortedMap<Int64, Stored>()
  private(set) var keys = SortedMap<KeyTuple, Row>()
  private(set) var indexes: [Index] = []
  /// The number of versions of the schema that have written.
  private(set) var versionCount = 0

  init(_ name: String, _ ids: RowIDs) {
    self.name = name
    self.ids = ids
  }

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
        index.add(stored.row)
        return true
      }
      indexes.append(index)
      return indexes.count - 1
    }
  }

  // MARK: Changes

  /// - Parameter uniques: The positions of the unique indexes.
  mutating func insert(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, uniques: [Int]
  ) throws -> Int64 {
    let row = Row(sound: bytes, id: ids.next())
    try insert(row, schema, uniques: uniques)
    return row.id
  }

  /// Stores a row under its own id.
  mutating func insert(keepingIDOf row: Row, _ schema: EntitySchema, uniques: [Int]) throws {
    ids.use(row.id)
    try insert(row.withBytes { Row(sound: $0, id: row.id) }, schema, uniques: uniques)
  }

  private mutating func insert(_ row: Row, _ schema: EntitySchema, uniques: [Int]) throws {
    let key = row.read { KeyTuple(schema.keyReaders, $0) }
    try setKey(key, row, schema)
    do { try refuseDuplicates(of: row, uniques, schema) } catch {
      keys.remove(key)
      throw error
    }
    rows.set(row.id, Stored(row: row, key: key))
    for place in indexes.indices { indexes[place].add(row) }
  }

  mutating func update(
    to new: Row, id: Int64, _ schema: EntitySchema, uniques: [Int]
  ) throws {
    guard let old = rows[id] else {
      throw StorageError(
        .missing, table: name, rowid: id, message: "there is no such row to update")
    }
    let row = new.withBytes { Row(sound: $0, id: id) }
    let key = row.read { KeyTuple(schema.keyReaders, $0) }
    // What was stored twice before the values became unique stops only changes of them.
    let changed = uniques.filter { !indexes[$0].hasSameEntry(old.row, row) }
    try setKey(key, row, schema)
    do { try refuseDuplicates(of: row, changed, schema) } catch {
      if key == old.key { keys.set(key, old.row) } else { keys.remove(key) }
      throw error
    }
    if key != old.key { keys.remove(old.key) }
    rows.set(id, Stored(row: row, key: key))
    for place in indexes.indices { indexes[place].replace(old.row, by: row) }
  }

  mutating func delete(id: Int64) {
    guard let old = rows.remove(id) else { return }
    keys.remove(old.key)
    for place in indexes.indices { indexes[place].remove(old.row) }
  }

  /// Gives a row its key, unless another row has it.
  private mutating func setKey(
    _ key: KeyTuple, _ row: Row, _ schema: EntitySchema
  ) throws {
    guard let other = keys.set(key, row), other.id != row.id else { return }
    keys.set(key, other)
    throw StorageError(
      .alreadyExists, table: name, rowid: other.id, key: row.read { schema.describeKey(of: $0) },
      message: "another object has it already")
  }

  private func refuseDuplicates(of row: Row, _ uniques: [Int], _ schema: EntitySchema) throws {
    for place in uniques {
      let columns = indexes[place].columns
      let key = row.read { KeyTuple(columns, $0) }
      if let other = indexes[place].owner(of: key, otherThan: row.id) {
        throw StorageError(
          .alreadyExists, table: name, rowid: other,
          key: row.read { schema.describe(columns, of: $0) },
          message: "another object has it already")
      }
    }
  }
}

extension MemoryTable.Index {
  private func entry(of row: Row) -> IndexEntry {
    IndexEntry(key: row.read { KeyTuple(columns, $0) }, id: row.id)
  }

  fileprivate func hasSameEntry(_ old: Row, _ new: Row) -> Bool {
    old.read { old in new.read { KeyTuple(columns, old) == KeyTuple(columns, $0) } }
  }

  fileprivate mutating func add(_ row: Row) { entries.set(entry(of: row), ()) }

  fileprivate mutating func remove(_ row: Row) { entries.remove(entry(of: row)) }

  fileprivate mutating func replace(_ old: Row, by new: Row) {
    let (old, new) = (entry(of: old), entry(of: new))
    if old == new { return }
    entries.remove(old)
    entries.set(new, ())
  }

  /// Another row with the same values, none of which is null; nil if there is none.
  fileprivate func owner(of key: KeyTuple, otherThan id: Int64) -> Int64? {
    if key.hasNull { return nil }
    var owner: Int64?
    entries.forEach(after: { $0.key < key }) { entry, _ in
      if entry.key != key { return false }
      if entry.id == id { return true }
      owner = entry.id
      return false
    }
    return owner
  }
}

/// The row ids of a table. An id is never reused, even if the change that used it was rolled back.
final class RowIDs: Sendable {
  private let last = Atomic<Int64>(0)

  func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }

  /// Makes sure that `next` returns greater ids than this one.
  func use(_ id: Int64) { last.max(id, ordering: .relaxed) }
}
