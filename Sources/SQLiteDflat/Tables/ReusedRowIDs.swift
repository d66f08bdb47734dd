// ReusedRowIDs: a main table that another program has made without AUTOINCREMENT.
//
// SQLite gives the id of a deleted row to a new one then. Where no table of the file has
// AUTOINCREMENT, SQLite keeps no counter that could be raised, so transactions are refused.

import Dflat
import SQLiteAccess

/// A main table whose row ids may be used again.
struct ReusedRowIDs {
  static let message =
    "another program made the table without AUTOINCREMENT, so row ids may be used again"
  static let advice = "copy the file with \"dflat copy OLD NEW\", which makes the table with it"

  /// Whether transactions of the type are refused.
  let isRefused: Bool

  /// nil if there is no such table, or it uses each id once.
  init?(of table: String, _ connection: Connection) throws(SQLiteError) {
    let created = try connection.value(
      "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(table)])
    guard let sql = created?.text, !sql.uppercased().contains("AUTOINCREMENT") else { return nil }
    isRefused = try !connection.tableExists("sqlite_sequence")
  }

  /// What a check says.
  var message: String {
    Self.message + (isRefused ? ", and transactions of the type fail" : "")
  }
}
