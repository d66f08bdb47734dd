// Tables of elements: what the writer finds in the file when it first writes to a type.

import Dflat
import SQLiteAccess

extension WriterTables {
  /// The tables of elements of a type; missing ones are created.
  /// - Parameter isMainGuarded: Whether all guards of the main table were in place.
  func elements(
    of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> [WriterElements] {
    let own: [WriterElements] = try sql.elements.compactMap { table in
      if try triggers.name(table.table, connection) {
        try IndexMarks.clear(table.table, connection)
        return nil
      }
      let found = try prepare(table, isMainGuarded: isMainGuarded, connection)
      if found == nil, let taken = try table.takenName(connection) {
        engine.reports.reportOnce(
          StorageError(
            .other, table: table.table, message: taken.message, path: connection.path,
            advice: taken.advice))
      }
      return found
    }
    try distrustElements(of: sql, connection)
    return own
  }

  /// - Returns: nil if something else has the name, which is left alone.
  private func prepare(
    _ table: ElementTable, isMainGuarded: Bool, _ connection: Connection
  ) throws -> WriterElements? {
    if try table.takenName(connection) != nil { return nil }
    let found = try table.definition(connection)
    // With its guards it is ours, and has the ids of another version.
    if let found, found.sql != table.create {
      try connection.execute("DROP TABLE \(table.table.quoted)")
    }
    if found?.sql != table.create { try connection.execute(table.create) }
    let isGuarded = try IndexGuards.ensure(table.ownGuards, connection)
    let extent = try IndexExtent.read(of: table, connection)
    let verified: Int64
    if let extent, extent.main == nil, extent.side == nil {
      // A table without rows is right if there are no objects.
      verified = IndexMarks.everything
    } else {
      verified =
        isMainGuarded && isGuarded ? extent?.verified ?? IndexMarks.nothing : IndexMarks.nothing
    }
    if extent?.verified != verified {
      // Until now another version of the type may have had the table.
      forget { $0.elements.contains { $0.table.table == table.table } }
      try IndexMarks.set(verified, of: table, main: table.main, connection)
    }
    return WriterElements(table, verified: verified)
  }

  /// Tables of elements that only other versions of the schema know are not kept up, so nothing of
  /// them is trusted any more.
  private func distrustElements(of sql: TableSQL, _ connection: Connection) throws {
    guard try connection.tableExists(IndexMarks.table) else { return }
    let own = Set(sql.elements.map(\.table))
    let marked = try connection.rows(
      "SELECT side FROM \(IndexMarks.table) WHERE main = ? AND verified <> ? "
        + "AND substr(absent, 1, ?) = ?",
      [
        .text(sql.table), .integer(IndexMarks.nothing),
        .integer(Int64(ElementTable.markPrefix.utf8.count)), .text(ElementTable.markPrefix),
      ])
    for name in marked.compactMap({ $0.first?.text }) where !own.contains(name) {
      try IndexMarks.clear(name, connection)
    }
  }
}

extension ElementTable {
  /// What has its name in the file.
  fileprivate func definition(
    _ connection: Connection
  ) throws(SQLiteError) -> (type: String, name: String, sql: String?)? {
    try connection.rows(
      "SELECT type, name, sql FROM sqlite_master "
        + "WHERE name = ? COLLATE NOCASE AND type <> 'trigger'",
      [.text(table)]
    ).first.map { ($0[0].text ?? "", $0[1].text ?? "", $0[2].text) }
  }

  /// What is wrong if something else has its name.
  /// - Parameter isCommitted: Whether nothing has changed the schema since the last commit.
  func takenName(
    _ connection: Connection, isCommitted: Bool = false
  ) throws -> (message: String, advice: String)? {
    guard let found = try definition(connection), found.sql != create else { return nil }
    let ours = IndexGuards(main: [], side: ownGuards)
    if found.type == "table", try ours.stand(on: connection, isCommitted: isCommitted) {
      return nil
    }
    if found.type == "table", found.name != table, ElementTable.isDefined(by: found.sql) {
      return (
        "'\(found.name)' is an index of another type, and SQLite does not tell its name from that "
          + "of an index of \(main), since it compares letters without case: conditions on its "
          + "elements look at each object",
        "give one of the types a table whose name differs by more than case"
      )
    }
    let way =
      found.type == "table"
      ? "rename it: ALTER TABLE \(table.quoted) RENAME TO …"
      : "drop it, and create it again under another name if it is needed: "
        + "DROP \(found.type.uppercased()) \(table.quoted)"
    return (
      "\(found.type == "index" ? "an" : "a") \(found.type) of another program has the name of an "
        + "index of \(main): conditions on its elements look at each object",
      way + "; the next transaction of the type makes the index"
    )
  }
}
