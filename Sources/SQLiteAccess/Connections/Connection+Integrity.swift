// What SQLite says of the structure of a database.

extension Connection {
  /// Reads the whole database and checks its structure: pages, free list, the order of rows, and
  /// the indexes against the rows (`PRAGMA integrity_check`).
  ///
  /// - Parameter limit: After so many problems the check ends.
  /// - Returns: What is wrong, a sentence each; empty if nothing is.
  package func integrityProblems(limit: Int) throws(SQLiteError) -> [String] {
    let lines = try rows("PRAGMA main.integrity_check(\(limit))").compactMap { $0[0].text }
    return lines == ["ok"] ? [] : lines
  }
}
