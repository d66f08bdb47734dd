// MemoryState: all stored data, as a value.
//
// A copy shares all maps with the original. So a snapshot, the start of a transaction and the start
// of a subtransaction each cost one reference count. Rolling back means dropping a copy.

import Dflat

struct MemoryState: Sendable {
  private var tables: [MemoryTable] = []
  /// The versions of schemas that were written, with the positions of the table and of the indexes
  /// in it. There are few, and comparing is faster than hashing.
  private var versions: [(schema: EntitySchema, table: Int, indexes: [Int])] = []

  /// The table of a type, and the positions of its indexes there; nil if nothing was written to it.
  ///
  /// A version of the schema that has written nothing has no indexes yet, though the table may have
  /// rows of other versions.
  func table(of schema: EntitySchema) -> (table: MemoryTable, indexes: [Int]?)? {
    let version = version(of: schema)
    return table(of: schema, version).map { (tables[$0], version.map { versions[$0].indexes }) }
  }

  /// The row with a primary key, as it is stored.
  ///
  /// - Returns: nil if there is none. Otherwise the row, and whether only this version of the
  ///   schema has written rows.
  func row(of schema: EntitySchema, with key: KeyView) -> (row: Row, isOfOnlyVersion: Bool)? {
    let version = version(of: schema)
    // In place: a copy of the table would count a dozen references.
    guard let place = table(of: schema, version), let row = tables[place].keys.find(key) else {
      return nil
    }
    return (row, version != nil && tables[place].versionCount == 1)
  }

  private func version(of schema: EntitySchema) -> Int? {
    versions.firstIndex { $0.schema === schema }
  }

  private func table(of schema: EntitySchema, _ version: Int?) -> Int? {
    version.map { versions[$0].table } ?? tables.firstIndex { $0.name == schema.table }
  }

  /// Changes the table of a type, with all indexes of the schema.
  ///
  /// - Parameters:
  ///   - ids: The row ids of the table, if it has to be created.
  ///   - change: Receives the table, and the positions of the schema's indexes.
  mutating func change<R>(
    _ schema: EntitySchema, ids: (String) -> RowIDs,
    _ change: (inout MemoryTable, _ indexes: [Int]) throws -> R
  ) rethrows -> R {
    let version = version(of: schema) ?? register(schema, ids)
    return try change(&tables[versions[version].table], versions[version].indexes)
  }

  private mutating func register(_ schema: EntitySchema, _ ids: (String) -> RowIDs) -> Int {
    let place = table(of: schema, nil) ?? tables.count
    if place == tables.count {
      tables.append(MemoryTable(name: schema.table, ids: ids(schema.table)))
    }
    versions.append((schema, place, tables[place].register(schema)))
    return versions.count - 1
  }
}
