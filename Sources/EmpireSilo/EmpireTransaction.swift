// EmpireTransaction: values in a transaction of LMDB. Used on the transaction's thread.

import Dflat
import Empire
import FlatBuffersRuntime
import Foundation
import Silo

final class EmpireTransaction: RetainingTransaction {
  private var openContext: Empire.TransactionContext?
  /// Carries out in older versions what is decided here; nil in a migration, which decides nothing.
  var settlement: Settlement? = Settlement()
  /// The types whose indexes this transaction has made complete.
  var indexed: Set<ObjectIdentifier> = []

  /// The ids of changed values, by type.
  private(set) var changes: [EmpireChange] = []
  /// The first error of a change. Half of the change may be stored, so that the transaction must
  /// not be kept, whatever its closure does about the error.
  private(set) var failure: (any Error)?

  /// How many rows were decoded, for tests.
  private(set) var rowsRead = 0

  init(_ context: Empire.TransactionContext) { openContext = context }

  func end() { openContext = nil }

  var context: Empire.TransactionContext {
    get throws {
      guard let openContext else { throw SiloError.escapedTransaction }
      return openContext
    }
  }

  // MARK: Reading

  func load<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> [V] {
    try ids.compactMap { try row(type, $0._key)?.object.get().value() }
  }

  func values<V: Persistable>(_ query: ValueQuery<V>) throws -> [V] {
    try objects(query).map { try $0.value() }
  }

  func count<V: Persistable>(_ query: ValueQuery<V>) throws -> Int {
    // Without a condition rows are counted by their keys.
    guard query.condition != nil else {
      let rows = StoredRow.query(
        limit: query.limit.map { max(0, $0) }, table: Canonical<V>._schema.table)
      return try context.count(rows)
    }
    return try objects(query).count
  }

  /// The objects of a query.
  func objects<V: Persistable>(_ query: ValueQuery<V>) throws -> [Canonical<V>] {
    let table = Canonical<V>._schema.table
    let context = try context
    var search = try RowSearch<V>(query) {
      try CompleteIndex.exists(in: context, table, $0)
    }
    let range = KeyRange(query, search)
    let count = try atMost(table)
    let most = query.worthwhile(of: count, isByID: range != nil)
    guard let places = try search.places(in: context, atMost: most) else {
      if let range { return try range.objects(in: context, table) { try object(of: $0) } }
      if let first = try firstObjects(query, of: count) { return first }
      return try query.objects(
        of: StoredRow.select(in: context, table: table, hash: .closedRange(search.hashes))
          .map { try object(of: $0) })
    }
    if let range { return try range.objects(at: places) { try object(at: $0) } }
    return try query.objects(of: places.compactMap { try object(at: $0) })
  }

  /// The object in a place; nil if there is none.
  func object<V: Persistable>(at place: RowPlace) throws -> Canonical<V>? {
    try StoredRow.select(
      in: context, table: Canonical<V>._schema.table, hash: place.hash, number: place.number
    ).first.map { try object(of: $0) }
  }

  private func object<V: Persistable>(
    of record: StoredRow
  ) throws(StorageError) -> Canonical<V> {
    rowsRead += 1
    return try record.object()
  }

  /// All objects that can be read.
  func readableObjects<V: Persistable>() throws -> [Canonical<V>] {
    try StoredRow.select(in: context, table: Canonical<V>._schema.table)
      .compactMap { try? object(of: $0) }
  }

  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool {
    try !StoredRow.select(in: context, limit: 1, table: Canonical<V>._schema.table).isEmpty
  }

  func rows<V: Persistable>(of type: V.Type, limit: Int?) throws -> [Canonical<V>] {
    if let limit, let first: [Canonical<V>] = try firstReadableObjects(limit) { return first }
    let rows: [Canonical<V>] = try readableObjects()
    return Array(rows.sorted { $0._rowid < $1._rowid }.prefix(limit ?? .max))
  }

  /// The row of an id, with its object, or the error of a damaged one; nil if there is none. A
  /// damaged row with the hash of the id counts as its row, unless another one has the id.
  private func row<V: Persistable>(
    _ type: V.Type, _ key: V.ID._Key
  ) throws -> (record: StoredRow, object: Result<Canonical<V>, StorageError>)? {
    let table = Canonical<V>._schema.table
    var damaged: (StoredRow, Result<Canonical<V>, StorageError>)?
    for record in try StoredRow.select(in: context, table: table, hash: hash(of: key)) {
      do throws(StorageError) {
        let object: Canonical<V> = try self.object(of: record)
        if IDKey(object.id) == IDKey(key) { return (record, .success(object)) }
      } catch {
        damaged = (record, .failure(error))
      }
    }
    return damaged
  }

  // MARK: Changing

  func save<V: Persistable>(_ values: [V]) throws {
    try change {
      for value in values { try save(Canonical(value), replacesAll: false) }
      try settlement?.settle(V.self, values.map { $0.id }, in: self)
    }
    note(V.self, values.map { $0.id })
  }

  func save<V: Persistable>(rows: [Canonical<V>]) throws {
    try change { for row in rows { try save(row, replacesAll: true) } }
    note(V.self, rows.compactMap { V.ID(_key: $0.id) })
  }

  /// Notes that values were changed.
  private func note<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) {
    if !ids.isEmpty { changes.append(EmpireChange(type, ids)) }
  }

  private func change(_ body: () throws -> Void) throws {
    do { try body() } catch {
      failure = failure ?? error
      throw error
    }
  }

  /// Stores an object.
  /// - Parameter replacesAll: Whether the object also replaces properties of the stored one that
  ///   only a newer release of the program knows. If not, they stay.
  private func save<V: Persistable>(_ object: Canonical<V>, replacesAll: Bool) throws {
    let schema = Canonical<V>._schema
    let table = schema.table
    if let refusal = object._refusal {
      throw StorageError(.invalidValue, table: table, key: "\(object.id)", message: refusal)
    }
    let stored = try row(V.self, object.id)
    let old = try? stored?.object.get()
    var object = object
    if let old, !replacesAll {
      object = Canonical(_row: try old._row.replacingValues(by: object._row, of: schema))
    }
    let number = try stored?.record.number ?? nextNumber(table)
    let record = StoredRow(
      table: table, hash: hash(of: object.id), number: number, bytes: object.toData())
    // What a damaged row has in the indexes is not known.
    if stored != nil, old == nil { try removeEntries(of: record.place, in: table) }
    try updateIndexes(from: old, to: object, at: record.place)
    if old == nil { try noteInsertion(of: object, at: record.place) }
    try context.insert(record)
  }

  /// How many rows a table has at most: it has had as many. A damaged file may have any number.
  private func atMost(_ table: String) throws -> Int {
    Int(clamping: max(0, try lastNumber(table)))
  }

  private func lastNumber(_ table: String) throws -> Int64 {
    try state(of: table)?.lastNumber ?? 0
  }

  private func state(of name: String) throws -> TableState? {
    try TableState.select(in: context, name: name).first
  }

  private func nextNumber(_ table: String) throws -> Int64 {
    let last = try lastNumber(table)
    let (number, isOver) = last.addingReportingOverflow(1)
    if isOver {
      throw StorageError(
        .invalidValue, table: table, message: "no number is left for another value",
        advice: "copy the values to another store")
    }
    let version = try state(of: table)?.version ?? 0
    try context.insert(TableState(name: table, lastNumber: number, version: version))
    return number
  }

  func remove<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> Int {
    var count = 0
    try change {
      for id in ids {
        guard let (record, object) = try row(type, id._key) else { continue }
        if let object = try? object.get() {
          try updateIndexes(from: object, to: nil, at: record.place)
          try forgetInsertion(of: object, at: record.place)
        } else {
          try removeEntries(of: record.place, in: record.table)
        }
        try context.delete(record)
        count += 1
      }
      try settlement?.settle(type, ids, in: self)
    }
    if count > 0 { note(type, ids) }
    return count
  }

  /// Stores which domain has changed the tables of this transaction.
  func sign(as domain: UInt64) throws {
    for table in Set(changes.compactMap(\.table)) {
      try context.insert(
        SiloTableChange(table: table, domain: domain, number: .random(in: 0 ... .max)))
    }
  }

  // MARK: Versions

  /// The version of a table; nil if none is recorded.
  func version(of table: String) throws -> Int? {
    let version = try state(of: table)?.version
    return version == 0 ? nil : version
  }

  /// Refuses a table of a version that the program does not know, and records the version.
  /// - Parameter isRecorded: Whether it is recorded even if the type has no values yet.
  func requireVersion<V: Persistable>(of type: V.Type, isRecorded: Bool = true) throws {
    let (name, version) = (V._canonical.name, V._canonical.version)
    let stored = try self.version(of: name)
    if let stored { try V.require(storedVersion: stored) }
    if stored != version, isRecorded {
      let last = try lastNumber(name)
      try context.insert(TableState(name: name, lastNumber: last, version: version))
    }
  }
}

extension StoredRow {
  var place: RowPlace { RowPlace(hash: hash, number: number) }

  /// The object.
  /// - Throws: `StorageError.corruptRow` if the bytes are damaged.
  func object<V: Persistable>() throws(StorageError) -> Canonical<V> {
    let verified: Canonical<V>
    do throws(VerificationError) { verified = try Canonical<V>(verifying: bytes) } catch {
      throw StorageError(
        .corruptRow, table: table, rowid: number, message: error.reason,
        advice: "remove the value by its id, or save it again")
    }
    return Canonical<V>(
      _row: verified._row.withBytes { DflatRow(sound: $0, id: number) })
  }
}

extension ValueQuery {
  /// How many rows of a table are better found by an index than by reading all: a look-up takes as
  /// long as reading some rows, and a limited query in the order of ids ends early.
  fileprivate func worthwhile(of count: Int, isByID: Bool) -> Int {
    let part = count / 8
    guard isByID, let limit else { return max(100, part) }
    let root = (Double(max(0, limit)) * Double(count)).squareRoot()
    return max(100, min(part, Int(exactly: root.rounded(.down)) ?? part))
  }
}
