// What may be believed of a side table, for the state that a connection is reading.
//
//  - Complete: its greatest row id equals the main table's (both empty counts). Looked up in the very state that is read,
//    since any connection may add, fill or drop side tables.
//  - Sound: it has a row for each row of the main table. Our own writes keep that true, so it is counted once and again only
//    after another connection has committed something; see `ForeignChanges`.
//
//  - Of this version: it was filled by a schema with the same default, or absent fields would have other values in it than they
//    read as now. Its column says so. It is looked up together with its soundness: a side table of another version is replaced by
//    our writer only in a new generation.
//
// A side table that is not all of this is not used for answers.

import Dflat
import SQLiteAccess

enum IndexHealth {
  /// Greatest row ids of a main and a side table.
  struct Extent {
    let main: Int64?
    let side: Int64?
  }

  /// nil if the side table does not exist.
  static func extent(
    of side: SideTable, _ connection: Connection
  ) throws(SQLiteError) -> Extent? {
    let statement: Statement
    do {
      statement = try connection.statement(side.extent)
      guard try statement.step() else { return nil }
    } catch {
      // There is no code of its own for a missing table or column.
      if error.code == .error { return nil }
      throw error
    }
    return Extent(
      main: statement.isNull(0) ? nil : statement.int64(0),
      side: statement.isNull(1) ? nil : statement.int64(1))
  }

  /// Whether both tables have the same row ids, by count, sum and a sum of hashes.
  ///
  /// As many rows too many as too few can have the same sum, so the sum of a hash with random numbers in it is compared,
  /// too. It needs no order, so both tables are read by their smallest index.
  ///
  /// - Parameter last: Rows beyond it do not count.
  static func hasSameRows(
    _ side: String, _ main: String, through last: Int64? = nil, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    let prime: Int64 = 2_147_483_647
    let factors = [SQLValue.integer(.random(in: 1..<prime)), .integer(.random(in: 0..<prime))]
    let hash = "((rowid % \(prime) * ?1 + ?2) % \(prime))"
    let condition = last.map { " WHERE rowid <= \($0)" } ?? ""
    func digest(_ table: String) throws(SQLiteError) -> [SQLValue] {
      try connection.rows(
        "SELECT count(*), sum(rowid & 4294967295), sum(rowid >> 32), "
          + "sum(\(hash) * \(hash) % 2147483629) FROM \(table.quoted)\(condition)", factors
      ).first ?? []
    }
    return try digest(side) == digest(main)
  }

  /// Whether a side table was filled by a schema in which absent fields read as they do now.
  static func isOfThisVersion(
    _ side: SideTable, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try connection.statement(
      "SELECT dflt_value FROM pragma_table_info(?) WHERE name = ?")
    try statement.bind(1, side.table)
    try statement.bind(2, side.column)
    guard try statement.step() else { return false }
    return statement.string(0) == side.defaultText
  }

  static func tableExists(_ table: String, _ connection: Connection) throws(SQLiteError) -> Bool {
    let statement = try connection.statement(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    try statement.bind(1, table)
    return try statement.step()
  }
}
