// Main tables whose key columns do not compare text by its bytes.
//
// Another program may have made a table with, for example, NOCASE. For SQLite different keys are
// equal then: a look-up finds another object, and an update changes it. So what depends on keys is
// refused. Rows can still be read one after the other, and copied into another file.

import Dflat
import SQLiteAccess

/// A key column that compares text by a collation of its own.
struct KeyCollation {
  let column: String
  let collation: String

  var message: String {
    "the column \(column) compares text as \(collation), and not by its bytes, so different keys "
      + "would be equal"
  }
}

extension TableSQL {
  /// The first key column whose collation is not `BINARY`; nil if there is none.
  func keyCollation(on connection: Connection) throws(SQLiteError) -> KeyCollation? {
    for (column, field) in zip(keyColumns, schema.primaryKey) where field.type == .string {
      if let collation = try connection.collation(of: column, in: table), collation != "BINARY" {
        return KeyCollation(column: column, collation: collation)
      }
    }
    return nil
  }

  /// Refuses a table whose keys SQLite would compare otherwise than Dflat. A reader looks once in
  /// each file, when the table is there.
  @inline(__always)
  func requireComparableKeys(on connection: Connection) throws {
    guard let comparableKeys, !comparableKeys.isFile(of: connection) else { return }
    try lookAtKeys(on: connection)
  }

  /// The same, also if the table was right before.
  func lookAtKeys(on connection: Connection) throws {
    // A statement makes the connection read the tables that are there now.
    guard try connection.tableExists(table) else { return }
    if let found = try keyCollation(on: connection) {
      comparableKeys?.forget()
      throw StorageError(
        .other, table: table, message: found.message, path: connection.path,
        advice: "copy the objects with \"dflat copy OLD NEW\", which makes the table as it must be")
    }
    comparableKeys?.note(connection)
  }
}
