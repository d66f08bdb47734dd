// Tables that have the name of a side table and other columns, or columns of other types or
// collations.
//
// Nothing but an index has such a name, so another program has damaged it. Queries do without it,
// the next transaction of the type creates it anew, and the check of a file finds it.

import Dflat
import SQLiteAccess

extension SideTable {
  /// Whether the table has the columns of the index, or does not exist. With another affinity
  /// SQLite would convert the values, and compare others than those of the objects.
  func hasShape(on connection: Connection) throws(SQLiteError) -> Bool {
    // Number, name, type, whether it must not be NULL, default, place in the primary key.
    let found = try connection.rows("PRAGMA table_info(\(table.quoted))")
    guard let id = found.first else { return true }
    let affinities = found.dropFirst().map { ColumnAffinity(declared: $0[2].text ?? "") }
    if let readers,
      affinities != readers.map({ ColumnAffinity(declared: $0.field.type.columnType) })
    {
      return false
    }
    // With another collation different values would be equal.
    for column in columns {
      if let collation = try connection.collation(of: column, in: table), collation != "BINARY" {
        return false
      }
    }
    return found.map { $0[1].text?.lowercased() } == ["rowid"] + columns
      && id[2].text?.uppercased() == "INTEGER" && id[5].integer == 1
      && found.dropFirst().allSatisfy { $0[3].integer == 0 && $0[5].integer == 0 }
  }

  /// Creates the table if it does not exist, or has other columns. The table of marks exists.
  /// - Returns: Whether a table with other columns was replaced.
  func establish(on connection: Connection) throws(SQLiteError) -> Bool {
    let isMisshapen = try !hasShape(on: connection)
    if isMisshapen {
      try connection.execute("DROP TABLE \(table.quoted)")
      try IndexMarks.clear(table, connection)
    }
    try connection.execute(create)
    return isMisshapen
  }

  /// What the error hook learns of a table that was replaced.
  var replacement: StorageError {
    StorageError(
      .corruptFile, table: table,
      message:
        "the table of the index of \(name) had the wrong columns: it is replaced and filled again")
  }
}

/// How SQLite converts the values of a column (https://sqlite.org/datatype3.html#affname).
enum ColumnAffinity {
  case integer
  case text
  case blob
  case real
  case numeric

  /// - Parameter declared: The type in the statement that created the table.
  init(declared: String) {
    let type = declared.uppercased()
    func names(_ words: String...) -> Bool { words.contains { type.contains($0) } }
    self =
      if names("INT") {
        .integer
      } else if names("CHAR", "CLOB", "TEXT") {
        .text
      } else if type.isEmpty || names("BLOB") {
        .blob
      } else if names("REAL", "FLOA", "DOUB") {
        .real
      } else {
        .numeric
      }
  }
}
