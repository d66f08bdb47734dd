// MaintenanceLog: when the file was last maintained, kept in the file.
//
//   _dflat_maintenance (task TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID
//
// `at` is in seconds since 1970. Workspaces with a policy, and vacuums and analyses that a program
// asks for, create the table. Other programs need not know of it: nothing else refers to it.

import SQLiteAccess

enum MaintenanceLog {
  static let table = "_dflat_maintenance"
  static let vacuum = "vacuum"
  static let analysis = "analysis"

  /// When a task was last carried out, or the file was first seen; nil if that is not known.
  static func last(_ task: String, _ connection: Connection) throws(SQLiteError) -> Int64? {
    let tables = try connection.statement(
      "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?")
    try tables.bind(1, table)
    guard try tables.step() else { return nil }
    let statement = try connection.statement("SELECT at FROM main.\(table) WHERE task = ?")
    try statement.bind(1, task)
    return try statement.step() ? statement.int64(0) : nil
  }

  static func note(_ task: String, at time: Int64, _ connection: Connection) throws(SQLiteError) {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS main.\(table) (task TEXT PRIMARY KEY, at INTEGER NOT NULL) "
        + "WITHOUT ROWID")
    try connection.execute(
      "INSERT INTO main.\(table) VALUES (?, ?) ON CONFLICT (task) DO UPDATE SET at = excluded.at",
      [.text(task), .integer(time)])
  }
}
