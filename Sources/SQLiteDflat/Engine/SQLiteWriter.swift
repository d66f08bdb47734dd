// SQLiteWriter: one write transaction.
//
// The main row is written first, so that a single statement refuses a key which belongs to another
// object, and leaves nothing behind. If unique side tables follow, the write is in a savepoint.
//
// What is written to side tables:
//
//  - A complete one gets a row for every new object, also for an unknown value (NULL).
//  - A partial one gets nothing beyond its last row; rows up to there are kept right.
//  - Every one that exists loses the row of a deleted object.
//
// Full-text tables and tables of elements follow; see `WriterFullText` and `WriterElements`.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

final class SQLiteWriter: SQLiteView, IndexBuildingStorageWriter {
  let tables: WriterTables
  private let session: WriteSession
  /// The generation that the commit has begun.
  private var committed: Int?

  init(
    _ engine: SQLiteEngine, _ session: WriteSession, _ connection: Connection,
    _ tables: WriterTables
  ) {
    self.session = session
    self.tables = tables
    super.init(engine, connection)
  }

  func insert(_ schema: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws -> Int64 {
    let table = try prepare(schema)
    return try store(bytes, schema, table, .anew)
  }

  func insert(_ schema: EntitySchema, keepingIDOf row: Row) throws {
    let table = try prepare(schema)
    _ = try row.withBytes { try store($0, schema, table, .keeping(row.id)) }
  }

  func insert(_ schema: EntitySchema, unlessKnown row: Row) throws -> Int64? {
    let table = try prepare(schema)
    // NULL equals nothing for SQLite's index, and other programs' triggers may ignore the change.
    let isSimple =
      !tables.triggers.areThere
      && row.read { table in
        !schema.keyReaders.contains { if case .null = $0.read(table) { true } else { false } }
      }
    if !isSimple, try self.row(of: schema, keyOf: row) != nil { return nil }
    let id = try row.withBytes { try store($0, schema, table, isSimple ? .unlessKnown : .anew) }
    return id == Self.known ? nil : id
  }

  /// What stands for the id of a row that was not stored, because its key is there.
  private static var known: Int64 { -1 }

  private enum Insertion {
    case anew
    /// Under an id that the caller has chosen.
    case keeping(Int64)
    /// If the key is there, nothing is stored, and `known` is returned.
    case unlessKnown
  }

  /// Stores a new row and returns its id.
  @inline(__always)
  private func store(
    _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema, _ table: WriterTable,
    _ insertion: Insertion
  ) throws -> Int64 {
    let row = Self.reading(bytes)
    if table.isPlain, !tables.triggers.areThere {
      return try insertMain(table, schema, row, bytes, insertion)
    }
    let keepsID = if case .keeping = insertion { true } else { false }
    return try atomically(table.hasUniqueSides) {
      tables.beginChange(of: table)
      let id = try insertMain(table, schema, row, bytes, insertion)
      if case .unlessKnown = insertion, id == Self.known { return id }
      // A new id is beyond what an incomplete side table covers; one that is kept may not be.
      for side in table.sides where side.isComplete || keepsID && side.covers(id) {
        guard let readers = side.readers else {
          if !side.isComplete { try side.truncate(from: id, connection) }
          continue
        }
        try checkUnique(side, row, id, schema)
        try store(SideValues(readers, row), row, id, in: side, side.insert.on(connection))
      }
      try checkUncoveredSides(table, row, id, schema)
      try withoutRefusals(of: schema.table) {
        for fullText in table.fullTexts { try fullText.insert(row, id, connection) }
        for elements in table.elements { try elements.insert(row, id, connection) }
        try endChange(of: table, id)
      }
      return id
    }
  }

  func update(
    _ schema: EntitySchema, from old: Row, to new: Row, changing fields: FieldSet
  ) throws {
    if let table = tables.prepared(schema), fields.isDisjoint(with: table.indexedFields) {
      return try withStorageErrors(table: schema.table, rowid: old.id) {
        // The effects of triggers cannot be undone by restoring the row.
        let isFirst = tables.members.isUntouched && !tables.triggers.areThere
        if !isFirst { try beginMember() }
        tables.beginChange(of: table)
        try new.withBytes { try updateMain(table, old, $0) }
        try endChange(of: table, old.id)
        if isFirst { tables.members.replaced(old, in: table) }
      }
    }
    let table = try prepare(schema)
    try new.withBytes { bytes in
      let row = Self.reading(bytes)
      try old.read { oldRow in
        Result {
          try atomically(table.hasUniqueSides(among: fields)) {
            tables.beginChange(of: table)
            try updateMain(table, schema, old.id, from: oldRow, to: row, bytes, fields)
            for side in table.sides where side.isAffected(by: fields) {
              try updateSide(side, schema, old.id, from: oldRow, to: row)
            }
            try withoutRefusals(of: schema.table) {
              for fullText in table.fullTexts where fullText.isAffected(by: fields) {
                try fullText.update(old.id, from: oldRow, to: row, connection)
              }
              for elements in table.elements where elements.isAffected(by: fields) {
                try elements.update(old.id, from: oldRow, to: row, connection)
              }
              try endChange(of: table, old.id)
            }
          }
        }
      }.get()
    }
  }

  func update(
    _ schema: EntitySchema, ifStored row: Row, changing fields: FieldSet
  ) throws -> Bool {
    let table = try prepare(schema)
    if !fields.isDisjoint(with: table.indexedFields) {
      return try updateFound(schema, row, changing: fields)
    }
    return try withStorageErrors(table: schema.table, rowid: row.id) {
      tables.beginChange(of: table)
      let statement = try table.updateIfKeyed.on(connection)
      let isStored = try row.withBytes { bytes in
        try bindKey(schema, Self.reading(bytes), to: statement, from: 3)
        try run(statement, row.id, bytes)
        return connection.changes == 1
      }
      if isStored { try endChange(of: table, row.id) }
      return isStored
    }
  }

  private func updateSide(
    _ side: WriterSide, _ schema: EntitySchema, _ id: Int64, from old: RowView, to row: RowView
  ) throws {
    guard let readers = side.readers else {
      if side.covers(id) { try side.truncate(from: id, connection) }
      return
    }
    let values = SideValues(readers, row)
    if values.areSame(in: old) { return }
    guard side.covers(id) else {
      if side.table.isUnique, !side.isComplete { try refuseDuplicate(side, row, id, schema) }
      return
    }
    try checkUnique(side, row, id, schema)
    try store(values, row, id, in: side, side.upsert.on(connection))
  }

  func delete(_ schema: EntitySchema, id: Int64) throws {
    let table = try prepare(schema)
    try withStorageErrors(table: schema.table, rowid: id) {
      tables.beginChange(of: table)
      try deleteTexts(of: id, table)
      let statement = try table.delete.on(connection)
      try statement.bind(1, id)
      try statement.run()
      try requireEffect("removed", on: schema.table, id)
      for side in table.sides {
        let statement = try side.delete.on(connection)
        try statement.bind(1, id)
        try statement.run()
      }
      for elements in table.elements { try elements.delete(id, connection) }
      try endChange(of: table, id)
    }
  }

  /// Table by table, each in the order of its rows, so that every page is changed once.
  func delete(_ schema: EntitySchema, ids: [Int64]) throws {
    let table = try prepare(schema)
    if tables.triggers.areThere {
      for id in ids { try delete(schema, id: id) }
      return
    }
    let ids = ids.sorted()
    if !table.fullTexts.isEmpty {
      for id in ids {
        try withStorageErrors(table: schema.table, rowid: id) { try deleteTexts(of: id, table) }
      }
    }
    try delete(ids, of: schema, try table.delete.on(connection))
    for side in table.sides { try delete(ids, of: schema, try side.delete.on(connection)) }
    for elements in table.elements {
      try withStorageErrors(table: schema.table) {
        for id in ids { try elements.delete(id, connection) }
      }
    }
  }

  /// Removes an object, which is still stored, from the full-text tables.
  private func deleteTexts(of id: Int64, _ table: WriterTable) throws {
    guard table.fullTexts.contains(where: { $0.covers(id) }) else { return }
    let stored = try connection.uniqueStatement(engine.sql(for: table.schema).selectRow)
    try stored.bind(1, id)
    guard try stored.step() else { return }
    // As they are, even if they are damaged: most words are still those that were added.
    for fullText in table.fullTexts { try fullText.delete(id, stored.blob(0), connection) }
  }

  private func delete(_ ids: [Int64], of schema: EntitySchema, _ statement: Statement) throws {
    for id in ids {
      try withStorageErrors(table: schema.table, rowid: id) {
        try statement.bind(1, id)
        try statement.run()
      }
    }
  }

  /// Finishes the change of a row and of its rows in side tables.
  private func endChange(of table: WriterTable, _ id: Int64) throws {
    if tables.triggers.areThere { try tables.endChange(of: table, id, connection) }
  }

  var token: CommitToken? { CommitToken(committed ?? tables.generation) }

  var isAlive: Bool { connection.isInTransaction }

  func commit() throws {
    committed = try session.commit()
  }

  func rollback() {
    do { try session.rollback() } catch { engine.reports.report(error) }
  }

  // MARK: Trust

  override var isCommitted: Bool { false }

  override func generationBeforeState() -> Int { tables.generation }

  override func verdict(of side: String, at generation: Int) throws -> Bool? {
    tables.isVerified(side)
  }

  override func note(_ isRight: Bool, of side: String, at generation: Int) {
    if isRight { tables.recordVerified(side) }
  }

  // MARK: Main rows

  private static func reading(_ bytes: UnsafeRawBufferPointer) -> RowView {
    guard let row = RowView(root: bytes) else {
      preconditionFailure("a row was built that cannot be read")
    }
    return row
  }

  /// The tables of a type, prepared for any write.
  @inline(__always)
  func prepare(_ schema: EntitySchema) throws -> WriterTable {
    tables.sameLength.end()
    if !tables.members.isMarked, let table = tables.prepared(schema) { return table }
    return try prepareAnew(schema)
  }

  private func prepareAnew(_ schema: EntitySchema) throws -> WriterTable {
    try withStorageErrors(table: schema.table) {
      try beginMember()
      return try tables.prepare(schema, connection, engine)
    }
  }

  private func insertMain(
    _ table: WriterTable, _ schema: EntitySchema, _ row: RowView, _ bytes: UnsafeRawBufferPointer,
    _ insertion: Insertion
  ) throws -> Int64 {
    try withStorageErrors(table: schema.table, key: schema.describeKey(of: row)) {
      let statement =
        switch insertion {
        case .anew: try table.insert.on(connection)
        case .keeping: try table.insertWithID.on(connection)
        case .unlessKnown: try table.insertUnlessKnown.on(connection)
        }
      try statement.bindBlob(1, inPlace: tables.blob(of: bytes))
      try bindKey(schema, row, to: statement, from: 2)
      if case .keeping(let id) = insertion {
        try statement.bind(schema.keyReaders.count + 2, id)
      }
      do { try statement.run() } catch let error as SQLiteError where error.isDiskFull {
        throw isOutOfIDs(table) ? Self.outOfIDs(of: schema) : error
      }
      if case .unlessKnown = insertion, connection.changes == 0 { return Self.known }
      try requireEffect("stored", on: schema.table)
      let id = connection.lastInsertRowID
      table.highestID = max(table.highestID, id)
      return id
    }
  }

  /// Whether a new object can get no row id. SQLite's error is that of a full disk.
  private func isOutOfIDs(_ table: WriterTable) -> Bool {
    let name = table.schema.table
    let last = try? connection.value(
      "SELECT max(coalesce((SELECT max(rowid) FROM \(name.quoted)), 0), "
        + "coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = ?), 0))", [.text(name)])
    return last?.integer == .max
  }

  private static func outOfIDs(of schema: EntitySchema) -> any Error {
    StorageError(
      .other, table: schema.table,
      message: "no row id is left for a new object: the greatest one, \(Int64.max), was used",
      advice: "copy the objects with \"dflat copy OLD NEW\", which gives them new row ids")
  }

  private func updateMain(
    _ table: WriterTable, _ schema: EntitySchema, _ id: Int64, from old: RowView, to row: RowView,
    _ bytes: UnsafeRawBufferPointer, _ fields: FieldSet
  ) throws {
    let keepsKey = schema.keyReaders.allSatisfy {
      !fields.contains($0.field.rootField) || $0.read(row).isSame(as: $0.read(old))
    }
    if keepsKey { return try updateMain(table, id, bytes) }
    let statement = try table.updateWithKey.on(connection)
    try bindKey(schema, row, to: statement, from: 3)
    try run(statement, table, id, bytes, key: schema.describeKey(of: row))
  }

  /// Replaces a row of which nothing changes that another table has.
  private func updateMain(
    _ table: WriterTable, _ old: Row, _ bytes: UnsafeRawBufferPointer
  ) throws {
    if old.count == bytes.count, !tables.triggers.areThere,
      try tables.sameLength.replace(old.id, by: tables.blob(of: bytes), in: table, connection)
    {
      return
    }
    try updateMain(table, old.id, bytes)
  }

  /// Replaces a row whose key does not change.
  func updateMain(
    _ table: WriterTable, _ id: Int64, _ bytes: UnsafeRawBufferPointer
  ) throws {
    try run(try table.update.on(connection), table, id, bytes)
  }

  @inline(__always)
  private func bindKey(
    _ schema: EntitySchema, _ row: RowView, to statement: Statement, from first: Int
  ) throws {
    for index in schema.keyReaders.indices {
      try statement.bind(first + index, column: schema.keyReaders[index].read(row))
    }
  }

  @inline(__always)
  private func run(
    _ update: Statement, _ id: Int64, _ bytes: UnsafeRawBufferPointer
  ) throws {
    try update.bindBlob(1, inPlace: tables.blob(of: bytes))
    try update.bind(2, id)
    try update.run()
  }

  private func run(
    _ update: Statement, _ table: WriterTable, _ id: Int64, _ bytes: UnsafeRawBufferPointer,
    key: @autoclosure () -> String? = nil
  ) throws {
    try withStorageErrors(table: table.schema.table, rowid: id, key: key()) {
      try run(update, id, bytes)
    }
    if connection.changes != 1 {
      throw StorageError(
        .missing, table: table.schema.table, rowid: id, message: "there is no such row to update")
    }
  }

  private func store(
    _ values: SideValues, _ row: RowView, _ id: Int64, in side: WriterSide,
    _ statement: Statement
  ) throws {
    try statement.bind(1, id)
    try statement.bind(from: 2, values)
    try withStorageErrors(
      table: side.table.main, rowid: id, key: side.table.describe(row)
    ) {
      if side.table.isUnique {
        try statement.run()
      } else {
        try withoutRefusals(of: side.table.main) { try statement.run() }
      }
      try requireEffect("stored", on: side.table.table, id)
    }
  }

  /// Checks what the last statement has done: a trigger can make SQLite skip it without an error.
  private func requireEffect(_ effect: String, on table: String, _ id: Int64? = nil) throws {
    if !tables.triggers.areThere || connection.changes == 1 { return }
    throw StorageError(
      .other, table: table, rowid: id,
      message: "a trigger of another program kept the row from being \(effect)")
  }
}
