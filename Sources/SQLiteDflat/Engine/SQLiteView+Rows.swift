// Single rows, and rows in the order of their ids.

import Dflat
import FlatBuffersRuntime
import SQLiteAccess

extension SQLiteView {
  func row(id: Int64, _ schema: EntitySchema, _ mark: ReadMark) throws -> Row? {
    try withStorageErrors(table: schema.table, rowid: id) {
      let sql = engine.sql(for: schema)
      try sql.requireOwnTable(on: connection)
      guard let statement = try connection.statement(sql.selectRow, reading: sql.table) else {
        return nil
      }
      try statement.bind(1, id)
      guard try statement.step(of: sql.table) else { return nil }
      return try soundRow(statement.object(0, of: schema), id, schema, mark)
    }
  }

  func row(keyOf row: Row, _ schema: EntitySchema, _ mark: ReadMark) throws -> Row? {
    try withStorageErrors(table: schema.table) {
      let sql = engine.sql(for: schema)
      try sql.requireOwnTable(on: connection)
      try sql.requireComparableKeys(on: connection)
      guard let statement = try connection.statement(sql.selectKey, reading: sql.table) else {
        return nil
      }
      return try row.read { table -> Result<Row?, any Error> in
        Result {
          for (index, reader) in schema.keyReaders.enumerated() {
            try statement.bind(index + 1, column: reader.read(table))
          }
          guard try statement.step(of: sql.table) else { return nil }
          return try soundRow(statement.object(1, of: schema), statement.int64(0), schema, mark)
        }
      }.get()
    }
  }

  func rows(ids: [Int64], _ schema: EntitySchema, _ mark: ReadMark) throws -> RowBuffer {
    var rows = RowBuffer()
    for id in ids.sorted() {
      do {
        if let row = try row(id: id, schema, mark) { rows.append(row) }
      } catch let error as StorageError where error.cause == .corruptRow {
        engine.reports.reportOnce(error)
      }
    }
    return rows
  }

  func rows(
    after id: Int64?, limit: Int, _ schema: EntitySchema, _ mark: ReadMark
  ) throws -> RowBuffer {
    try withStorageErrors(table: schema.table) {
      var rows = RowBuffer()
      let sql = engine.sql(for: schema)
      try sql.requireOwnTable(on: connection)
      guard let first = ReadRequest.firstID(after: id),
        let statement = try connection.statement(sql.selectFrom, reading: sql.table)
      else { return rows }
      try statement.bind(1, first)
      while rows.count < limit, try statement.step(of: sql.table) {
        do throws(StorageError) {
          rows.append(
            try soundRow(statement.object(1, of: schema), statement.int64(0), schema, mark))
        } catch {
          engine.reports.reportOnce(error)
        }
      }
      return rows
    }
  }

  func lastID(of schema: EntitySchema) throws -> Int64? {
    try withStorageErrors(table: schema.table) {
      let sql = engine.sql(for: schema)
      try sql.requireOwnTable(on: connection)
      guard let statement = try connection.statement(sql.selectLast, reading: sql.table),
        try statement.step(of: sql.table), !statement.isNull(0)
      else { return nil }
      return statement.int64(0)
    }
  }

  /// Calls `body` with each value of the only column that a plan gives, from value to value, unless
  /// it meets so many that reading all entries is faster.
  /// - Returns: False if the entries have to be read; `body` may have been called with some values.
  func eachValue(
    _ plan: Plan, _ positions: [Int], _ body: (inout SelectedRows) throws -> Void
  ) throws -> Bool {
    let schema = plan.query.schema
    guard let select = SelectSQL.eachValue(plan, engine.sql(for: schema), positions),
      let last = try lastID(of: schema)
    else { return false }
    // A look-up takes as long as some four entries.
    let most = Int(last / 16)
    if most < 16 { return false }
    guard let statement = try connection.statement(select.text, reading: select.mainTable) else {
      return true
    }
    var rows = SelectedRows(statement, of: plan.query, atMost: most)
    try body(&rows)
    try rows.check()
    return !rows.isAtLimit
  }

  /// The row, if its bytes are sound; throws if they are damaged.
  private func soundRow(
    _ bytes: UnsafeRawBufferPointer, _ id: Int64, _ schema: EntitySchema, _ mark: ReadMark
  ) throws(StorageError) -> Row {
    do throws(VerificationError) { try schema.layout.verify(bytes) } catch {
      throw StorageError(
        .corruptRow, table: schema.table, rowid: id, message: error.storedReason)
    }
    return Row(sound: bytes, id: id, mark: mark)
  }
}
