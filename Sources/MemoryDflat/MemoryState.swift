// MemoryState: all stored data, as a value.
//
// A copy shares all maps with the original. So a snapshot, the start of a transaction and the start
// of a subtransaction each cost one reference count. Rolling back means dropping a copy.

import Dflat

struct MemoryState: Sendable {
  /// The positions of the objects and indexes of one version of a schema.
  struct Version: Sendable {
    let table: Int
    let indexes: [Int]
    /// The positions of the unique indexes.
    let uniques: [Int]
  }

  private var tables: [MemoryTable] = []
  private var places: [String: Int] = [:]
  /// The versions that were written. There are few, and comparing is faster than hashing.
  private var versions: [(schema: EntitySchema, version: Version)] = []

  /// The table of a type, and the positions of its indexes there; nil if nothing was written to it.
  ///
  /// A version of the schema that has written nothing has no indexes yet, though the table may have
  /// rows of other versions.
  func table(of schema: EntitySchema) -> (table: MemoryTable, indexes: [Int]?)? {
    if let place = place(ofVersion: schema) {
      let version = versions[place].version
      return (tables[version.table], version.indexes)
    }
    return places[schema.table].map { (tables[$0], nil) }
  }

  /// The row with a primary key, as it is stored.
  ///
  /// - Returns: nil if there is none. Otherwise the row, and whether only this version of the
  ///   schema has written rows.
  func row(
    of schema: EntitySchema, with key: KeyView
  ) -> (row: Row, isOfOnlyVersion: Bool)? {
    // In place: a copy of the table would count a dozen references.
    let known = place(ofVersion: schema)
    guard let place = known.map({ versions[$0].version.table }) ?? places[schema.table],
      let row = tables[place].keys.find(key)
    else { return nil }
    return (row, known != nil && tables[place].versionCount == 1)
  }

  private func place(ofVersion schema: EntitySchema) -> Int? {
    versions.firstIndex { $0.schema === schema }
  }

  /// Changes the table of a type, with all indexes of the schema.
  ///
  /// - Parameters:
  ///   - ids: The row ids of the table, if it has to be created.
  ///   - change: Receives the table, and the positions of unique indexes.
  mutating func change<R>(
    _ schema: EntitySchema, ids: (String) -> RowIDs,
    _ change: (inout MemoryTable, _ uniques: [Int]) throws -> R
  ) rethrows -> R {
    let place = place(ofVersion: schema) ?? register(schema, ids)
    return try change(&tables[versions[place].version.table], versions[place].version.uniques)
  }

  private mutating func register(_ schema: EntitySchema, _ ids: (String) -> RowIDs) -> Int {
    let place = places[schema.table] ?? tables.count
    if place == tables.count { tables.append(MemoryTable(schema.table, ids(schema.table))) }
    places[schema.table] = place
    let indexes = tables[place].register(schema)
    let uniques = zip(schema.indexes, indexes).filter(\.0.isUnique).map(\.1)
    versions.append((schema, Version(table: place, indexes: indexes, uniques: uniques)))
    return versions.count - 1
  }
}
