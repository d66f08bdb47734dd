// dflat_schemas: the schemas that rows of this file were written with, for people and tools.
//
//   dflat_schemas ("table" TEXT, digest TEXT, version TEXT, date TEXT, schema BLOB,
//                  PRIMARY KEY ("table", digest))
//
//  - There is one row for each table and shape. It is written with the first object of that shape,
//    in the same transaction.
//  - `schema` is what `flatc --schema --binary` writes, `digest` its SHA-256. `version` is that of
//    the library that wrote it, `date` the time in UTC.
//  - No result of a query depends on it. It only distinguishes entities whose names differ in case;
//    see TableOwner.swift. A program may delete it.

import Dflat
import Platform
package import SQLiteAccess

package enum StoredSchemas {
  static let table = "dflat_schemas"
  private static let find = "SELECT 1 FROM \(table) WHERE \"table\" = ? AND digest = ?"
  /// Finds rows that have no schema of a table.
  static let findOdd =
    "SELECT rowid, \"table\" FROM \(table) WHERE typeof(schema) <> 'blob' "
    + "OR typeof(\"table\") <> 'text' OR typeof(digest) <> 'text' ORDER BY rowid"
  private static let insert =
    "INSERT OR IGNORE INTO \(table) (\"table\", digest, version, date, schema) "
    + "VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?)"
  private static let create =
    "CREATE TABLE IF NOT EXISTS \(table) (\"table\" TEXT NOT NULL, digest TEXT NOT NULL, "
    + "version TEXT NOT NULL, date TEXT NOT NULL, schema BLOB NOT NULL, "
    + "PRIMARY KEY (\"table\", digest))"

  /// The schemas of a table that are older than those which contain a name; empty if the file keeps
  /// no schemas.
  static func schemas(
    of table: String, before name: String, _ connection: Connection
  ) throws(SQLiteError) -> [[UInt8]] {
    guard try connection.tableExists(self.table) else { return [] }
    do throws(SQLiteError) {
      return try connection.rows(
        "SELECT schema, instr(schema, CAST(? AS BLOB)) FROM \(self.table) WHERE \"table\" = ? "
          + "ORDER BY rowid", [.text(name), .text(table)]
      ).prefix { $0[1].integer == 0 }.compactMap { $0[0].blob }
    } catch {
      // Something else has the name, or the table is damaged, which `check` finds.
      guard error.code == .error || error.isCorrupt else { throw error }
      return []
    }
  }

  /// Creates the table unless it is there.
  package static func createTable(_ connection: Connection) throws(SQLiteError) {
    try connection.execute(create)
  }

  /// Writes the schema of a type unless it is there.
  /// - Throws: `SQLiteError`: `.error` if something else has the name of the table.
  static func write(_ schema: EntitySchema, _ connection: Connection) throws(SQLiteError) {
    let encoded = schema.encoded
    let key: [SQLValue] = [.text(schema.table), .text(encoded.digest)]
    if try connection.tableExists(table) {
      if try connection.value(find, key) != nil { return }
    } else {
      try createTable(connection)
    }
    try connection.execute(
      insert, key + [.text(LibraryVersion.current), .blob(encoded.bytes)])
  }
}
