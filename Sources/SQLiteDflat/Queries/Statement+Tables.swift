// Statements on tables that may not exist: the first object creates its table, and another
// connection may drop it.

import Dflat
import SQLiteAccess

extension Connection {
  func tableExists(_ table: String) throws(SQLiteError) -> Bool {
    let statement = try statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    try statement.bind(1, table)
    return try statement.step()
  }

  /// A statement that reads a main table; nil if the table does not exist.
  func statement(_ sql: String, reading table: String) throws(SQLiteError) -> Statement? {
    do { return try statement(sql) } catch {
      if try !tableExists(table) { return nil }
      // Outside a transaction the table may have been created since the first attempt.
      return try statement(sql)
    }
  }

  /// The same, held by the caller for the duration of a call.
  func uniqueStatement(
    _ sql: String, reading table: String
  ) throws(SQLiteError) -> UniqueStatement? {
    do { return try uniqueStatement(sql) } catch {
      if try !tableExists(table) { return nil }
      return try uniqueStatement(sql)
    }
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// The next row; nil if the table was dropped since the statement was prepared.
  @inline(__always)
  func step(of table: String) throws(SQLiteError) -> Bool {
    do {
      return try step()
    } catch {
      if error.code == .error, try !connection.tableExists(table) { return false }
      throw error
    }
  }
}

extension PreparedStatement where Self: ~Copyable {
  /// The value of a key or index column. Text is in SQLite's memory.
  @inline(__always)
  func columnValue(_ column: Int, _ type: ValueType) -> ColumnValue {
    switch type {
    case .string: return utf8(column).map { .text(UnsafeRawBufferPointer($0)) } ?? .null
    case .float, .double:
      let number = double(column)
      // NULL reads as 0.
      return number == 0 && isNull(column) ? .null : .real(number)
    default:
      let number = int64(column)
      return number == 0 && isNull(column) ? .null : .integer(number)
    }
  }
}
