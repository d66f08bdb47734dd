// Rewriting a whole database.

import CSQLite
package import Platform

extension Connection {
  /// Rewrites the database: without free pages, and with the rows of each table next to each other.
  ///
  /// - Parameter path: A new file for the result, with the rights of this one's; nil to rewrite the
  ///   database itself.
  /// - Throws: ``SQLiteError``; see ``SQLiteError/missingDefinition`` for tables that only another
  ///   program can vacuum.
  package func vacuum(into path: String? = nil) throws(SQLiteError) {
    // SQLite runs the definitions of all tables again. Those of other programs may have texts in
    // double quotes.
    setDoubleQuotedDefinitions(true)
    defer { setDoubleQuotedDefinitions(false) }
    guard let path else { return try execute("VACUUM") }
    createFile(path)
    try execute("VACUUM INTO ?", [.text(path)])
  }

  /// Says whether definitions may have texts in double quotes, as those of other programs have.
  package func setDoubleQuotedDefinitions(_ areAllowed: Bool) {
    csqlite_db_config_boolean(openDatabase, SQLITE_DBCONFIG_DQS_DDL, areAllowed ? 1 : 0, nil)
  }

  /// The rights of the database's file; nil if it is in memory.
  package var fileRights: FileRights? {
    guard let name = sqlite3_db_filename(openDatabase, "main"), name[0] != 0 else { return nil }
    // Another file may be at its path.
    let rights = isReplaced ? nil : FileRights(of: String(cString: name))
    return rights ?? .ofThisUserOnly
  }

  /// Creates an empty file for a copy of the database, unless there is a file. SQLite would create
  /// it with the rights of any new file. What cannot be created SQLite reports when it opens it.
  /// - Returns: Whether it has created the file.
  @discardableResult
  func createFile(_ path: String) -> Bool {
    fileRights?.createEmpty(path) ?? false
  }
}
