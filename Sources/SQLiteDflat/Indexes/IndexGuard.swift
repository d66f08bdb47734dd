// Index guards: triggers that notice changes by other programs.
//
//  - A guard lowers the marks of the affected side tables to just below the changed row; see
//    `IndexMarks`. It does nothing else, so it does not disturb other programs.
//  - `REPLACE` removes conflicting rows without firing triggers for them. So guards look for rows
//    with the same key, or the same unique value, before a row is written.
//  - Our writers keep side tables consistent themselves and run no guards: triggers are off on
//    their connections, unless the program or another one has put triggers into the file; see
//    `WriterTriggers`.
//  - Versions of a program may disagree on whether values are unique. Looking for the same value
//    does no harm where equal ones are allowed. So a guard that looks stays, and what was verified
//    under it stays verified.
//  - A guard is dropped with its table. When the table is renamed, the guard stays, but its text
//    changes. So its text shows whether it is in place; the text is examined when the file's schema
//    has changed (`IndexGuards`).

import Dflat
import SQLiteAccess

/// One trigger.
struct IndexGuard: Sendable {
  static let prefix = "_dflat_"
  /// The prefix of the guards of full-text tables. Versions of this library that know no such
  /// tables take these guards for triggers of another program, and so run all guards.
  static let fullTextPrefix = "dflat_fulltext_"
  /// The same of tables of elements.
  static let elementPrefix = "dflat_elements_"
  let name: String
  /// The statement that creates it, in the form that SQLite stores.
  let sql: String
  /// The statements of guards that notice as much.
  let sufficient: [String]
  /// The same, and without unique columns: that suffices as long as the table is not written.
  let accepted: [String]

  /// The guards of a main table, which affect all its side tables.
  static func guards(main: String, keys: [String]) -> [IndexGuard] {
    guards(
      of: main, marks: "main = \(main.sqlText)", columns: keys, areUnique: true, givesIDs: true)
  }

  /// The guards of a side table.
  static func guards(side: String, columns: [String], areUnique: Bool) -> [IndexGuard] {
    guards(
      of: side, marks: "side = \(side.sqlText)", columns: columns, areUnique: areUnique,
      givesIDs: false)
  }

  /// The guards of a table that is trusted as a whole, a full-text table or one of elements: any
  /// change takes away its mark. A row of it says nothing about what is kept for it elsewhere.
  /// - Parameters:
  ///   - rows: The table with its rows. FTS5 keeps them in another one.
  ///   - prefix: How the names begin.
  static func guards(whole table: String, rows: String, prefix: String) -> [IndexGuard] {
    ["INSERT", "UPDATE", "DELETE"].map { event in
      let name = "\(prefix)\(table)_\(event.lowercased())"
      let sql =
        "CREATE TRIGGER \(name.quoted) BEFORE \(event) ON \(rows.quoted) BEGIN "
        + "UPDATE \(IndexMarks.table) SET verified = -9223372036854775807 - 1 "
        + "WHERE side = \(table.sqlText); END"
      return IndexGuard(name: name, sql: sql, sufficient: [sql], accepted: [sql])
    }
  }

  /// - Parameters:
  ///   - marks: Which marks a change to a row of the table affects.
  ///   - columns: Columns whose values together may be unique.
  ///   - areUnique: Whether they are unique.
  ///   - givesIDs: Whether SQLite may choose the id of a new row, which is then only known after
  ///     the insertion.
  private static func guards(
    of table: String, marks: String, columns: [String], areUnique: Bool, givesIDs: Bool
  ) -> [IndexGuard] {
    func lower(_ row: String) -> String {
      "UPDATE \(IndexMarks.table) SET verified = \(row) - 1 WHERE \(marks) AND verified >= \(row); "
    }
    func make(_ event: String, _ name: String, _ body: String, _ rest: String = "") -> IndexGuard {
      let name = "\(prefix)\(table)_\(name)"
      let start = "CREATE TRIGGER \(name.quoted) \(event) ON \(table.quoted) BEGIN \(body)"
      let (plain, full) = (start + "END", start + rest + "END")
      return IndexGuard(
        name: name, sql: areUnique ? full : plain,
        sufficient: areUnique ? [full] : [plain, full], accepted: [plain, full])
    }
    let inTheWay = lower(
      "(SELECT rowid FROM \(table.quoted) WHERE "
        + columns.map { "\($0.quoted) = new.\($0.quoted)" }.joined(separator: " AND ") + ")")
    var guards = [
      make("BEFORE UPDATE", "update", lower("min(old.rowid, new.rowid)"), inTheWay),
      make("BEFORE DELETE", "delete", lower("old.rowid")),
    ]
    if givesIDs {
      guards.append(make("BEFORE INSERT", "replace", inTheWay))
      guards.append(make("AFTER INSERT", "insert", lower("new.rowid")))
    } else {
      guards.append(make("BEFORE INSERT", "insert", lower("new.rowid"), inTheWay))
    }
    return guards
  }
}

/// The guards of one side table and of its main table, in one file.
final class IndexGuards: Sendable {
  /// The accepted texts of each guard. A full-text table itself is one of them: as it was created,
  /// so it divides texts into words.
  private let texts: [[String]]
  /// Where the guards were last seen in place: SQLite's schema version changes with every change of
  /// a table or trigger.
  private let seen = SeenFile()

  init(main: [IndexGuard], side: [IndexGuard], definition: String? = nil) {
    texts = (main + side).map(\.accepted) + (definition.map { [[$0]] } ?? [])
  }

  /// Whether all guards are in place, in the state that a connection is reading.
  /// - Parameter isCommitted: Whether that state is committed. The version of a state that is
  ///   rolled back may be used again.
  func stand(on connection: Connection, isCommitted: Bool) throws(SQLiteError) -> Bool {
    let version = try connection.schemaVersion()
    if isCommitted, seen.isFile(of: connection, at: version) { return true }
    guard try Self.stand(texts, connection) else { return false }
    if isCommitted { seen.note(connection, at: version) }
    return true
  }

  /// Creates the missing guards of a table.
  /// - Returns: Whether all of them were in place.
  static func ensure(
    _ guards: [IndexGuard], _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    if try stand(guards.map(\.sufficient), connection) { return true }
    for trigger in guards where try !stand([trigger.sufficient], connection) {
      try connection.execute("DROP TRIGGER IF EXISTS \(trigger.name.quoted)")
      try connection.execute(trigger.sql)
    }
    return false
  }

  /// - Parameter texts: The accepted texts of each guard, of which it must have one.
  private static func stand(
    _ texts: [[String]], _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    let accepted = texts.flatMap(\.self)
    let marks = String(repeating: ", ?", count: accepted.count).dropFirst(2)
    let statement = try connection.statement(
      "SELECT count(*) FROM sqlite_master WHERE sql IN (\(marks))")
    for (index, text) in accepted.enumerated() { try statement.bind(index + 1, text) }
    return try statement.step() && statement.int64(0) == texts.count
  }
}
