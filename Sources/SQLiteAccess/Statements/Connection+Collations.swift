// The collations of columns: how SQLite compares their text.

import CSQLite

extension Connection {
  /// The collation of a column of the main database.
  ///
  /// - Returns: `BINARY` if text is compared by its bytes; nil if there is no such column, or
  ///   if the table is a view.
  /// - Throws: ``SQLiteError`` if the schema cannot be read.
  package func collation(of column: String, in table: String) throws(SQLiteError) -> String? {
    let database = try open()
    var name: UnsafePointer<CChar>?
    let result = sqlite3_table_column_metadata(
      database, "main", table, column, nil, &name, nil, nil, nil)
    // The code of a column that is not there.
    if result == SQLITE_ERROR { return nil }
    guard result == SQLITE_OK else {
      throw SQLiteError(result: result, database: database, path: path)
    }
    // As a table declares it, in any case of letters.
    return name.map { String(cString: $0).uppercased() }
  }
}
