// PostgresWriter: one write transaction.
//
// An error of the server ends the whole transaction. So what a request may run into is looked up
// before it writes: a key or unique value of another object is found, and nothing has failed. If an
// object that the transaction cannot see is in the way, the server refuses the transaction as a
// conflict, and it runs again.
//
// Unique values are found by their index, and no constraint of the server guards them: of two
// transactions that each look for a value and then insert it, the server refuses one.

import Dflat
import FlatBuffersRuntime
import Platform

final class PostgresWriter: PostgresView, IndexBuildingStorageWriter {
  private let session: WriteSession
  /// Tables that were laid out during the transaction, which its own state does not have.
  private var laidOut: [String: [String: IndexMarks.Mark]] = [:]
  /// The marks that the transaction changes, written before its commit.
  private var changedMarks: [String: [String: IndexMarks.Mark]] = [:]
  private var prepared: [ObjectIdentifier: WriteTable] = [:]
  private var latest: WriteTable?
  private var touched: Set<String> = []
  private var hasWritten = false
  /// The rows that were changed, for the log. Those of a member that was rolled back stay: readers
  /// find them as they were.
  private var changes = ChangedRows()
  private var savepoint = Savepoint.none

  private enum Savepoint {
    case none, wanted, set
  }

  init(
    _ engine: PostgresEngine, _ session: WriteSession, _ connection: Connection,
    _ marks: IndexMarks
  ) {
    self.session = session
    super.init(engine, connection, marks: marks, isInTransaction: true)
  }

  override func completeColumns(of table: EntityTable) -> [String: Bool]? {
    currentMarks(of: table.name)?.mapValues(\.isComplete)
  }

  /// The marks of a table's columns, with the changes of this transaction.
  private func currentMarks(of table: String) -> [String: IndexMarks.Mark]? {
    guard let known = laidOut[table] ?? marks?.tables[table] else { return nil }
    guard let changed = changedMarks[table] else { return known }
    return known.merging(changed) { $1 }
  }

  // MARK: Tables

  /// Creates a table that does not exist, so that the server notes that the transaction has found
  /// it empty.
  override func requireTable(of schema: EntitySchema) throws {
    if currentMarks(of: schema.table) == nil { _ = try prepare(schema) }
  }

  /// The table of a type, prepared for writes.
  /// - Parameter addingColumns: Whether missing columns are added. The marks of what is added are
  ///   newer than the transaction, which therefore cannot change them.
  private func prepare(
    _ schema: EntitySchema, addingColumns: Bool = false
  ) throws -> WriteTable {
    if let latest, latest.table.schema === schema { return latest }
    if let known = prepared[ObjectIdentifier(schema)] {
      latest = known
      return known
    }
    let table = engine.table(of: schema)
    var existing = currentMarks(of: table.name)
    let lacksColumns = existing.map { known in table.columnNames.contains { known[$0] == nil } }
    // A table that this transaction has used is locked by it, and another connection cannot change
    // it.
    let mayAdd = addingColumns && !touched.contains(table.name) && engine.mayLayOut(table)
    if existing == nil || (lacksColumns == true && mayAdd) {
      let new = try engine.layOut(table)
      laidOut[table.name] = new
      existing = new
    } else if lacksColumns == false, !touched.contains(table.name) {
      try engine.requireIndexes(of: table, connection)
    }
    touched.insert(table.name)
    table.isKnown.store(true, ordering: .releasing)
    let known = table.writeTable(with: existing ?? [:])
    prepared[ObjectIdentifier(schema)] = known
    latest = known
    return known
  }

  /// Takes away the marks of columns that cannot be written for a row.
  private func noteUncovered(_ table: WriteTable, _ id: Int64) throws {
    let main = table.table.name
    guard !table.uncovered.isEmpty, let known = currentMarks(of: main) else { return }
    for name in table.uncovered {
      guard let mark = known[name], mark.isComplete || mark.reach >= id else { continue }
      let lower = IndexMarks.Mark(isComplete: false, reach: min(mark.reach, id - 1))
      if laidOut[main] == nil {
        changedMarks[main, default: [:]][name] = lower
      } else {
        // The transaction does not see these marks. Without them no answer is wrong, so they may be
        // taken away before the commit.
        try engine.lowerMark(of: name, in: table.table, below: id)
        laidOut[main]?[name] = lower
      }
    }
  }

  private static func reading(_ bytes: UnsafeRawBufferPointer) -> TableReader {
    guard let row = TableReader(root: bytes) else {
      preconditionFailure("a row was built that cannot be read")
    }
    return row
  }

  /// Runs a statement that changes something.
  private func change(_ statement: StatementText) throws(PostgresError) -> Rows {
    hasWritten = true
    return try connection.run(statement)
  }

  /// Called before the parameters of a change are set.
  private func beginChange() throws(PostgresError) {
    if savepoint == .wanted {
      try connection.execute("SAVEPOINT member")
      savepoint = .set
    }
  }

  // MARK: Rows

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      let row = Self.reading(bytes)
      try schema.refuseLongKey(of: row)
      for index in schema.indexes where index.isUnique {
        try refuseDuplicate(index, row, nil, schema)
      }
      try beginChange()
      let parameters = connection.parameters
      parameters.begin(1 + schema.keyReaders.count + table.columns.count)
      parameters.set(0, inPlace: bytes)
      setColumns(table, row, from: 1)
      let rows = try change(table.insert)
      guard rows.count > 0 else {
        // Only SELECT notes that the transaction has seen the other object.
        _ = try owner(ofKeyIn: row, schema)
        throw taken(schema, schema.describeKey(of: row))
      }
      let id = rows.integer(0, 0)
      changes.add(id, to: schema.table)
      try noteUncovered(table, id)
      return id
    }
  }

  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws {
    try withStorageErrors(table: schema.table, rowid: old.id, isWriting: true) {
      let table = try prepare(schema)
      let isPlain = fields.isDisjoint(with: table.indexedFields)
      try new.withBytes { bytes in
        let row = Self.reading(bytes)
        if !isPlain {
          try schema.refuseLongKey(of: row)
          try old.read { oldRow in
            Result { try refuseTaken(schema, old.id, from: oldRow, to: row) }
          }.get()
        }
        try beginChange()
        let parameters = connection.parameters
        parameters.begin(2 + (isPlain ? 0 : schema.keyReaders.count + table.columns.count))
        parameters.set(0, old.id)
        parameters.set(1, inPlace: bytes)
        if !isPlain { setColumns(table, row, from: 2) }
        let count = try change(isPlain ? table.table.updateBytes : table.update).changes
        if count != 1 {
          throw StorageError(
            .missing, table: schema.table, rowid: old.id,
            message: "there is no such row to update")
        }
      }
      changes.add(old.id, to: schema.table)
      if !fields.isDisjoint(with: table.uncoveredFields) {
        try noteUncovered(table, old.id)
      }
    }
  }

  private func setColumns(_ table: WriteTable, _ row: TableReader, from first: Int) {
    var place = first
    for reader in table.table.schema.keyReaders {
      connection.parameters.set(place, reader.read(row), reader.field.type)
      place += 1
    }
    for column in table.columns {
      connection.parameters.set(place, column, of: row)
      place += 1
    }
  }

  func delete(_ schema: EntitySchema, id: Int64) throws {
    try withStorageErrors(table: schema.table, rowid: id, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      connection.parameters.begin(1)
      connection.parameters.set(0, id)
      _ = try change(table.table.delete)
      changes.add(id, to: schema.table)
    }
  }

  func delete(_ schema: EntitySchema, ids: [Int64]) throws {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema)
      try beginChange()
      for start in stride(from: 0, to: ids.count, by: 10_000) {
        connection.parameters.begin(1)
        connection.parameters.set(0, Array(ids[start..<min(ids.count, start + 10_000)]))
        _ = try change(table.table.deleteAll)
      }
      for id in ids { changes.add(id, to: schema.table) }
    }
  }

  // MARK: Refusals

  private func taken(_ schema: EntitySchema, _ key: String) -> StorageError {
    StorageError(
      .alreadyExists, table: schema.table, key: key, message: "another object has it already")
  }

  /// Refuses an update that gives an object a key or unique value of another one.
  private func refuseTaken(
    _ schema: EntitySchema, _ id: Int64, from old: TableReader, to row: TableReader
  ) throws {
    let keepsKey = schema.keyReaders.allSatisfy { $0.read(row).isSame(as: $0.read(old)) }
    if !keepsKey, let owner = try owner(ofKeyIn: row, schema), owner != id {
      throw taken(schema, schema.describeKey(of: row))
    }
    for index in schema.indexes where index.isUnique {
      let isSame = index.columns.allSatisfy { $0.hasSameValue(old, row) }
      if !isSame { try refuseDuplicate(index, row, id, schema) }
    }
  }

  /// The row id of the object that has a row's key.
  private func owner(
    ofKeyIn row: TableReader, _ schema: EntitySchema
  ) throws(PostgresError) -> Int64? {
    connection.parameters.begin(schema.keyReaders.count)
    for (place, reader) in schema.keyReaders.enumerated() {
      connection.parameters.set(place, reader.read(row), reader.field.type)
    }
    let rows = try connection.run(engine.table(of: schema).selectID)
    return rows.count > 0 ? rows.integer(0, 0) : nil
  }

  /// Refuses values of a unique index that another object has.
  private func refuseDuplicate(
    _ index: IndexDescriptor, _ row: TableReader, _ id: Int64?, _ schema: EntitySchema
  ) throws {
    guard let condition = index.columns.sameValues(as: row),
      try owners(ofValuesIn: row, index, condition, schema).contains(where: { $0 != id })
    else { return }
    // If another object has the key, too, the error tells that.
    if id == nil, try owner(ofKeyIn: row, schema) != nil {
      throw taken(schema, schema.describeKey(of: row))
    }
    throw taken(schema, schema.describe(index.columns, of: row))
  }

  /// At most two objects with a row's values; if the index is not complete, each is looked at.
  private func owners(
    ofValuesIn row: TableReader, _ index: IndexDescriptor, _ condition: Node,
    _ schema: EntitySchema
  ) throws -> [Int64] {
    let table = engine.table(of: schema)
    let complete = completeColumns(of: table)
    guard index.columns.allSatisfy({ complete?[$0.columnName] == true }) else {
      let found = try rows(Query(schema: schema, condition: condition, limit: 2), mark: .none)
      return (0..<found.count).map { found[$0].id }
    }
    let parameters = connection.parameters
    parameters.begin(index.columns.count)
    for (place, column) in index.columns.enumerated() { parameters.set(place, column, of: row) }
    let found = try connection.run(table.selectOwners(by: index))
    return (0..<found.count).map { found.integer($0, 0) }
  }

  // MARK: The end

  var token: CommitToken? { nil }

  var isAlive: Bool { connection.isInTransaction }

  func beginSubtransaction() { savepoint = .wanted }

  func endSubtransaction(keeping: Bool) throws {
    let isSet = savepoint == .set
    savepoint = .none
    guard isSet else { return }
    try withStorageErrors(isWriting: true) {
      _ = try connection.execute(
        (keeping ? "" : "ROLLBACK TO member; ") + "RELEASE member")
    }
  }

  func commit() throws {
    do {
      try withStorageErrors(isWriting: true) {
        let hasMarks = try writeMarks()
        if hasMarks || hasWritten {
          try session.commit(connection, changes)
        } else {
          try connection.execute("COMMIT")
        }
      }
    } catch {
      session.rollback(connection)
      throw error
    }
  }

  func rollback() { session.rollback(connection) }

  /// Writes the marks that have changed.
  /// - Returns: Whether there are any.
  private func writeMarks() throws -> Bool {
    if changedMarks.isEmpty { return false }
    let parameters = connection.parameters
    for (table, marks) in changedMarks.sorted(by: { $0.key < $1.key }) {
      for (name, mark) in marks.sorted(by: { $0.key < $1.key }) {
        parameters.begin(4)
        parameters.set(0, text: table)
        parameters.set(1, text: name)
        parameters.set(2, mark.isComplete)
        parameters.set(3, mark.reach)
        if try connection.run(engine.system.setMark).changes != 1 {
          // The column is newer than the state that the transaction sees.
          throw StorageError(
            .conflict, table: table,
            message: "another program has changed the table's indexes during the transaction")
        }
      }
    }
    parameters.begin(0)
    try connection.run(engine.system.bump)
    return true
  }
}

// MARK: Indexes

extension PostgresWriter {
  func fillIndexes(of schema: EntitySchema, limit: Int) throws -> IndexProgress {
    try withStorageErrors(table: schema.table, isWriting: true) {
      let table = try prepare(schema, addingColumns: true)
      if laidOut[schema.table] != nil {
        // The next step can change the marks of what was added.
        return IndexProgress(filled: 0, remaining: 1, blocked: [])
      }
      guard let marks = currentMarks(of: table.table.name) else {
        return IndexProgress(filled: 0, remaining: 0, blocked: [])
      }
      // Columns that could not be added.
      let missing = schema.indexes.filter { $0.columns.contains { marks[$0.columnName] == nil } }
        .map(\.table)
      let open = table.table.columns.filter { marks[$0.columnName]?.isComplete == false }
      guard let start = open.compactMap({ marks[$0.columnName]?.reach }).min() else {
        return IndexProgress(filled: 0, remaining: 0, blocked: missing)
      }
      var step = IndexStep(table.table, open, connection)
      try beginChange()
      let last = try step.run(after: start, limit: limit)
      hasWritten = true
      for column in open {
        changedMarks[schema.table, default: [:]][column.columnName] = IndexMarks.Mark(
          isComplete: last == nil, reach: last ?? .max)
      }
      let remaining =
        try last.map { last in Int(max(1, (try lastID(of: schema) ?? 0) - last)) } ?? 0
      return IndexProgress(filled: step.filled, remaining: remaining, blocked: missing)
    }
  }
}
