// SQLiteView: reading rows through one connection.
//
// A view is used by one thread. Statements come from the connection's cache. A query that mentions indexes is answered in
// one read transaction with the look at those indexes, so both see the same state.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

/// Reading, in whatever transaction the connection is in.
class SQLiteView: StorageReader {
  let engine: SQLiteEngine
  let connection: Connection

  init(_ engine: SQLiteEngine, _ connection: Connection) {
    self.engine = engine
    self.connection = connection
  }

  func rows(_ query: Query, mark: ReadMark) throws -> RowBuffer {
    let table = query.schema.table
    return try withStorageErrors(table: table) {
      if let key = query.key {
        return RowBuffer(
          query.limit == 0
            ? nil : try engine.row(of: query.schema, with: key, mark: mark, on: connection))
      }
      return try withPlan(query) { plan in
        var collector = RowCollector(plan, mark: mark) { [engine] id, error in
          engine.report(
            StorageError(.corruptRow, table: table, rowid: id, message: error.reason))
        }
        let select = SelectSQL(plan, engine.sql(for: query.schema))
        guard let statement = try connection.statement(select.text, reading: table) else {
          return RowBuffer()
        }
        try select.bind(to: statement)
        while try statement.step(of: table) {
          let isWanted = collector.offer(bytes: statement.blob(1), id: statement.int64(0))
          if !isWanted { break }
        }
        return collector.finish()
      }
    }
  }

  func row(of schema: EntitySchema, id: Int64) throws -> Row? {
    try withStorageErrors(table: schema.table, rowid: id) {
      let sql = engine.sql(for: schema)
      guard let statement = try connection.statement(sql.selectRow, reading: sql.table) else {
        return nil
      }
      try statement.bind(1, id)
      guard try statement.step(of: sql.table) else { return nil }
      return try soundRow(statement.blob(0), id, schema)
    }
  }

  func row(of schema: EntitySchema, keyOf row: Row) throws -> Row? {
    try withStorageErrors(table: schema.table) {
      let sql = engine.sql(for: schema)
      guard let statement = try connection.statement(sql.selectKey, reading: sql.table) else {
        return nil
      }
      return try row.read { table -> Result<Row?, any Error> in
        Result {
          for (index, reader) in schema.keyReaders.enumerated() {
            try statement.bind(index + 1, column: reader.read(table))
          }
          guard try statement.step(of: sql.table) else { return nil }
          return try soundRow(statement.blob(1), statement.int64(0), schema)
        }
      }.get()
    }
  }

  func rows(of schema: EntitySchema, after id: Int64, limit: Int) throws -> RowBuffer {
    try withStorageErrors(table: schema.table) {
      var rows = RowBuffer()
      let sql = engine.sql(for: schema)
      guard let statement = try connection.statement(sql.selectAfter, reading: sql.table) else {
        return rows
      }
      try statement.bind(1, id)
      while rows.count < limit, try statement.step(of: sql.table) {
        do throws(StorageError) {
          rows.append(try soundRow(statement.blob(1), statement.int64(0), schema))
        } catch {
          engine.reportOnce(error)
        }
      }
      return rows
    }
  }

  func lastID(of schema: EntitySchema) throws -> Int64? {
    try withStorageErrors(table: schema.table) {
      let sql = engine.sql(for: schema)
      guard let statement = try connection.statement(sql.selectLast, reading: sql.table),
        try statement.step(of: sql.table), !statement.isNull(0)
      else { return nil }
      return statement.int64(0)
    }
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    try withStorageErrors(table: query.schema.table) {
      try withPlan(query) { plan in
        let sql = engine.sql(for: query.schema)
        let key = query.key
        let select = key.map { SelectSQL($0, sql) } ?? SelectSQL(plan, sql)
        var lines: [String] = []
        if let statement = try connection.statement(
          "EXPLAIN QUERY PLAN " + select.text, reading: query.schema.table)
        {
          try select.bind(to: statement)
          while try statement.step() { lines.append(statement.string(3) ?? "") }
        }
        return QueryExplanation(
          statement: select.text, plan: lines, indexes: select.indexes,
          rowByRow: plan.residual.map { "\($0)" },
          isSortedInMemory: !plan.isOrderedByEngine && !plan.query.order.isEmpty)
      }
    }
  }

  // MARK: Plans

  private func withPlan<R: ~Copyable>(_ query: Query, _ body: (Plan) throws -> R) throws -> R {
    if query.mentionedIndexes.isEmpty {
      return try body(Plan(query) { _ in false })
    }
    let sides = engine.sql(for: query.schema).sides
    let before = try generationBeforeState()
    return try inOneState {
      let plan = try Plan(query) {
        try isUsable(sides[$0], query.schema, before)
      }
      return try body(plan)
    }
  }

  /// The generation before the state was begun that is read now; nil if it is not known.
  func generationBeforeState() throws -> Int? { try engine.foreignChanges.generationBefore() }

  /// Whether a side table was found sound at the generation of the state that is read.
  func isSound(_ side: String, at generation: Int) -> Bool {
    engine.foreignChanges.isSound(side, at: generation)
  }

  /// A side table was found sound in the state that is read, which began after `generation`.
  func foundSound(_ side: String, after generation: Int?) {
    if let generation { engine.foreignChanges.markSound(side, at: generation) }
  }

  /// Whether a side table may answer, for the state that is being read. If it may not, it is built.
  private func isUsable(_ side: SideTable, _ schema: EntitySchema, _ before: Int?) throws -> Bool {
    guard try IndexHealth.tableExists(schema.table, connection) else { return false }
    if let extent = try IndexHealth.extent(of: side, connection), extent.main == extent.side,
      try isSound(side, schema.table, before)
    {
      return true
    }
    engine.want(indexesOf: schema)
    return false
  }

  private func isSound(_ side: SideTable, _ main: String, _ before: Int?) throws -> Bool {
    // If nobody has changed anything from before the state to now, the state is of this generation.
    if let before, try engine.foreignChanges.generation() == before,
      isSound(side.trustKey, at: before)
    {
      return true
    }
    guard try IndexHealth.isOfThisVersion(side, connection),
      try IndexHealth.hasSameRows(side.table, main, connection)
    else { return false }
    foundSound(side.trustKey, after: before)
    return true
  }

  private func inOneState<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    if connection.isInTransaction { return try body() }
    try connection.begin(.deferred)
    do {
      let result = try body()
      try connection.commit()
      return result
    } catch {
      // What failed is reported; that a read transaction could not be ended adds nothing.
      try? connection.rollback()
      throw error
    }
  }

  /// The row, if its bytes are sound. A damaged one is thrown.
  private func soundRow(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, _ schema: EntitySchema
  ) throws(StorageError) -> Row {
    do throws(VerificationError) { try schema.layout.verify(bytes) } catch {
      throw StorageError(.corruptRow, table: schema.table, rowid: id, message: error.reason)
    }
    return Row(sound: bytes, id: id)
  }
}
