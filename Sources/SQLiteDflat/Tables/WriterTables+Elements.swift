// Tables of elements: what the writer finds in the file when it first writes to a type.

import Dflat
import SQLiteAccess

extension WriterTables {
  /// The tables of elements of a type; missing ones are created. None while there are triggers of
  /// other programs.
  /// - Parameter isMainGuarded: Whether all guards of the main table were in place.
  func elements(
    of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> [WriterElements] {
    if triggers.areThere {
      try distrustElements(of: sql, except: [], connection)
      return []
    }
    let own = try sql.elements.compactMap { table in
      let found = try prepare(table, isMainGuarded: isMainGuarded, connection)
      if found == nil { engine.reports.reportOnce(table.isTaken) }
      return found
    }
    try distrustElements(of: sql, except: Set(sql.elements.map(\.table)), connection)
    return own
  }

  /// - Returns: nil if another table has the name, which is left alone.
  private func prepare(
    _ table: ElementTable, isMainGuarded: Bool, _ connection: Connection
  ) throws -> WriterElements? {
    let definition =
      "SELECT sql FROM sqlite_master WHERE name = \(table.table.sqlText) COLLATE NOCASE "
      + "AND type <> 'trigger'"
    if let found = try connection.rows(definition).first?.first?.text, found != table.definition {
      guard table.definitions.contains(found) else { return nil }
      // In another version of the type the elements have another type.
      try connection.execute("DROP TABLE \(table.table.quoted)")
    }
    try connection.execute(table.create)
    try ensureIndex(of: table, connection)
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

  private func ensureIndex(of table: ElementTable, _ connection: Connection) throws {
    for index in try connection.rows("PRAGMA index_list(\(table.table.quoted))") {
      guard let name = index[1].text else { continue }
      let columns = try connection.rows("PRAGMA index_info(\(name.quoted))").map { $0[2].text }
      if columns == ["element", "owner"] { return }
    }
    let name = try freeIndexName(for: table.table, connection)
    try connection.execute(table.createIndex(named: name))
  }

  /// Tables of elements that are not kept up, as those that only other versions of the schema know,
  /// are not trusted any more.
  private func distrustElements(
    of sql: TableSQL, except own: Set<String>, _ connection: Connection
  ) throws {
    guard try connection.tableExists(IndexMarks.table) else { return }
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
  /// Another table has its name.
  fileprivate var isTaken: StorageError {
    StorageError(
      .other, table: table,
      message: "another program's table has the name of an index of \(main): conditions on its "
        + "elements look at each object",
      advice: "rename that table")
  }
}
