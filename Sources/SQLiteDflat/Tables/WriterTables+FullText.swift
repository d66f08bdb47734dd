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
    let others = try fullTextsOfOtherVersions(
      sql, beside: own, isMainGuarded: isMainGuarded, connection, engine)
    return own.map { [$0] + others } ?? others
  }

  private func ownFullText(
    of sql: TableSQL, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) -> WriterFullText? {
    guard let table = sql.fullText, engine.fullTexts.supports(table.table) else { return nil }
    do {
      return try prepare(table, isMainGuarded: isMainGuarded, connection, engine)
    } catch {
      guard error.isMissingModule else { throw error }
      engine.noteUnsupported(table.table, error)
      return nil
    }
  }

  private func prepare(
    _ table: FullTextTable, isMainGuarded: Bool, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) -> WriterFullText {
    let found = try look(table, connection, engine)
    let verified: Int64
    if let extent = found.extent, extent.main == nil, extent.side == nil {
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
    return WriterFullText(table, verified: verified, texts, engine)
  }

  /// What there is of a table, which is created if it is missing.
  /// - Returns: Whether its guards were in place; no extent if it is damaged, or another table.
  private func look(
    _ table: FullTextTable, _ connection: Connection, _ engine: SQLiteEngine
  ) throws(SQLiteError) -> (isGuarded: Bool, extent: IndexExtent?) {
    do {
      try connection.execute(table.create)
      let isGuarded = try IndexGuards.ensure(table.ownGuards, connection)
      guard try table.guards.stand(on: connection, isCommitted: false),
        try !engine.fullTexts.isDamaged(table.table, on: connection)
      else { return (isGuarded, nil) }
      return (isGuarded, try IndexExtent.read(of: table, connection))
    } catch {
      guard error.mayBeDamage else { throw error }
      return (false, nil)
    }
  }

  /// Tables that other versions of the schema have created are kept up, if this version knows their
  /// fields and tokenizers. Otherwise nothing of them is trusted any more. The same holds for the
  /// table of this version, if this SQLite cannot use it.
  private func fullTextsOfOtherVersions(
    _ sql: TableSQL, beside own: WriterFullText?, isMainGuarded: Bool, _ connection: Connection,
    _ engine: SQLiteEngine
  ) throws -> [WriterFullText] {
    let prefix = sql.table + "__fulltext__"
    let names = try connection.rows(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, ?) = ? "
        + "AND sql LIKE 'CREATE VIRTUAL TABLE%'",
      [.integer(Int64(prefix.utf8.count)), .text(prefix)]
    ).compactMap { $0.first?.text }
    return try names.compactMap { name in
      if name == own?.table.table { return nil }
      let table = FullTextTable(foreign: name, of: sql.schema)
      // A damaged table is that program's business; here it is left alone.
      let extent = try table.flatMap { (table) throws(SQLiteError) -> IndexExtent? in
        try table.unlessRefused { () throws(SQLiteError) in
          try IndexExtent.read(of: table, connection)
        } ?? nil
      }
      if let table, let mark = extent?.verified, table.readers != nil, isMainGuarded,
        try table.guards.stand(on: connection, isCommitted: false), table.isRight(extent, mark)
      {
        return WriterFullText(table, verified: mark, texts, engine)
      }
      if try connection.tableExists(IndexMarks.table) {
        try IndexMarks.clear(name, connection)
      }
      return nil
    }
  }

  /// Lets FTS5 write the words that it has in memory; see `PendingTexts`. Call it before what makes
  /// it write them: savepoints, the commit, and statements that change more than one row.
  @inline(__always)
  func settleTexts(_ connection: Connection) throws {
    if !texts.isEmpty { try settle(connection) }
  }

  private func settle(_ connection: Connection) throws {
    let replaced = try texts.settle(connection)
    if replaced.isEmpty { return }
    forget { $0.fullTexts.contains { replaced.contains($0.table.table) } }
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
