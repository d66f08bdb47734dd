// Full-text tables: what the writer finds in the file when it first writes to a type.

import Dflat
import Platform
import SQLiteAccess

extension WriterTables {
  /// The full-text tables of a type: that of its schema, which is created if it is missing, and
  /// those of other versions.
  /// - Parameter isMainGuarded: Whether all guards of the main table were in place.
  func fullTexts(
    of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> [WriterFullText] {
    let own = try ownFullText(of: sql, isMainGuarded: isMainGuarded, connection, engine)
    let others = try fullTextsOfOtherVersions(sql, connection, engine)
    return own.map { [$0] + others } ?? others
  }

  private func ownFullText(
    of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) -> WriterFullText? {
    guard let table = sql.fullText, !engine.lacksFullText.load(ordering: .relaxed) else {
      return nil
    }
    do {
      return try prepare(table, isMainGuarded: isMainGuarded, connection, engine)
    } catch {
      guard error.isMissingModule else { throw error }
      engine.lacksFullText.store(true, ordering: .relaxed)
      engine.reports.report(
        StorageError(
          .other, table: table.table,
          message: "this SQLite has no full-text index of this kind: searches look at each object",
          underlying: error, path: error.path))
      return nil
    }
  }

  private func prepare(
    _ table: FullTextTable, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) -> WriterFullText {
    let found = try look(table, connection)
    if found.extent == nil { try table.recreate(connection) }
    let verified: Int64
    if found.extent?.main == nil, found.extent?.side == nil, isEmpty(table.main, connection) {
      // A table without rows is right if there are no objects.
      verified = IndexMarks.everything
    } else if let mark = found.extent?.verified, isMainGuarded, found.isGuarded,
      table.isRight(found.extent, mark)
    {
      verified = mark
    } else {
      verified = IndexMarks.nothing
    }
    if found.extent?.verified != verified {
      try IndexMarks.set(verified, of: table, main: table.main, connection)
    }
    return WriterFullText(table, verified: verified, engine)
  }

  /// What there is of a table, which is created if it is missing.
  /// - Returns: Whether its guards were in place; no extent if the table is damaged.
  private func look(
    _ table: FullTextTable, _ connection: Connection
  ) throws(SQLiteError) -> (isGuarded: Bool, extent: IndexExtent?) {
    do {
      try connection.execute(table.create)
      let isGuarded = try IndexGuards.ensure(table.ownGuards, connection)
      return (isGuarded, try IndexExtent.read(of: table, connection))
    } catch {
      guard error.mayBeDamage, !error.isMissingModule else { throw error }
      return (false, nil)
    }
  }

  private func isEmpty(_ table: String, _ connection: Connection) -> Bool {
    (try? connection.rows("SELECT 1 FROM \(table.quoted) LIMIT 1").isEmpty) ?? false
  }

  /// Tables that other versions of the schema have created are kept up, if this version knows their
  /// fields. Otherwise nothing of them is trusted any more.
  private func fullTextsOfOtherVersions(
    _ sql: TableSQL, _ connection: Connection, _ engine: SQLiteEngine
  ) throws -> [WriterFullText] {
    let prefix = sql.table + "__fulltext__"
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ? "
        + "AND sql LIKE 'CREATE VIRTUAL TABLE%'",
      [.integer(Int64(prefix.utf8.count)), .text(prefix)]
    ).compactMap { $0.first?.text }
    return try names.compactMap { name in
      guard name != sql.fullText?.table,
        let table = FullTextTable(foreign: name, of: sql.schema)
      else { return nil }
      // A damaged table is that program's business; here it is left alone.
      let extent = try? IndexExtent.read(of: table, connection)
      if let mark = extent?.verified, table.readers != nil, table.isRight(extent, mark) {
        return WriterFullText(table, verified: mark, engine)
      }
      if try connection.tableExists(IndexMarks.table) { try IndexMarks.clear(table, connection) }
      return nil
    }
  }
}

extension FullTextTable {
  /// Whether the table can have the rows that are marked, and no others.
  func isRight(_ extent: IndexExtent?, _ mark: Int64) -> Bool {
    guard let extent else { return false }
    return mark == IndexMarks.everything
      ? extent.isComplete : mark == IndexMarks.nothing || extent.side ?? .min <= mark
  }
}
