// Index guards: triggers that notice what other programs change.
//
//  - A guard lowers the marks of the side tables that a changed row concerns to just below that row; see `IndexMarks`. It does no
//    more, so other programs go on as if it were not there.
//  - `REPLACE` removes the rows that are in the way of a new one, and tells no trigger of that. So guards look for rows with the
//    same key, or the same unique value, before a row is written.
//  - Our writers keep side tables in step by themselves, and run no guards: triggers are off on their connections, unless the program
//    or somebody else has put triggers into the file; see `WriterTriggers`.
//  - A guard goes away with its table, stays with it when it is renamed, and is another text then. So whether it stands is
//    seen from its text, which is looked at when the file's schema has changed (`IndexGuards`).

import Dflat
import SQLiteAccess
import Synchronization

/// One trigger.
struct IndexGuard: Sendable {
  static let prefix = "_dflat_"
  let name: String
  /// The statement that makes it, as SQLite keeps it.
  let sql: String
  /// The same where no values are unique.
  private let plainSQL: String

  /// Whether it is among the guards that stand. One of a version of the schema in which other values are unique does as well, as long
  /// as nobody writes.
  func stands(in standing: [String: String]) -> Bool {
    standing[name].map { $0 == sql || $0 == plainSQL } ?? false
  }

  /// The guards of a main table, which concern all its side tables.
  static func guards(main: String, keys: [String]) -> [IndexGuard] {
    guards(of: main, marks: "main = \(main.sqlText)", unique: keys, givesIDs: true)
  }

  /// The guards of a side table.
  static func guards(side: String, unique column: String?) -> [IndexGuard] {
    guards(
      of: side, marks: "side = \(side.sqlText)", unique: column.map { [$0] } ?? [],
      givesIDs: false)
  }

  /// - Parameters:
  ///   - marks: Which marks a row of the table concerns.
  ///   - unique: Columns whose values no two rows share.
  ///   - givesIDs: Whether SQLite may choose the id of a new row, which is then known afterwards only.
  private static func guards(
    of table: String, marks: String, unique: [String], givesIDs: Bool
  ) -> [IndexGuard] {
    func lower(_ row: String) -> String {
      "UPDATE \(IndexMarks.table) SET verified = \(row) - 1 WHERE \(marks) AND verified >= \(row); "
    }
    func make(_ event: String, _ name: String, _ body: String, _ rest: String = "") -> IndexGuard {
      let name = "\(prefix)\(table)_\(name)"
      let start = "CREATE TRIGGER \(name.quoted) \(event) ON \(table.quoted) BEGIN \(body)"
      return IndexGuard(name: name, sql: start + rest + "END", plainSQL: start + "END")
    }
    let inTheWay =
      unique.isEmpty
      ? ""
      : lower(
        "(SELECT rowid FROM \(table.quoted) WHERE "
          + unique.map { "\($0.quoted) = new.\($0.quoted)" }.joined(separator: " AND ") + ")")
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

/// The guards that stand in a file.
enum IndexGuards {
  /// All of them by name, with their texts.
  static func read(_ connection: Connection) throws(SQLiteError) -> [String: String] {
    let statement = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND substr(name, 1, ?) = ?")
    try statement.bind(1, Int64(IndexGuard.prefix.utf8.count))
    try statement.bind(2, IndexGuard.prefix)
    var standing: [String: String] = [:]
    while try statement.step() {
      if let name = statement.string(0), let sql = statement.string(1) { standing[name] = sql }
    }
    return standing
  }

  /// Makes the guards of a table that do not stand.
  /// - Returns: Whether all of them stood.
  static func ensure(
    _ guards: [IndexGuard], _ standing: [String: String], _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    var isGuarded = true
    for trigger in guards where standing[trigger.name] != trigger.sql {
      isGuarded = false
      try connection.execute("DROP TRIGGER IF EXISTS \(trigger.name.quoted)")
      try connection.execute(trigger.sql)
    }
    return isGuarded
  }
}

/// Which side tables have their guards, and those of their main table, as long as the file's schema stays the same.
final class GuardedTables: Sendable {
  private struct State {
    /// SQLite's number of the file's schema, which every change of a table or trigger changes.
    var schemaVersion: Int64?
    var sides: [String: Bool] = [:]
  }

  private let state = Mutex(State())

  /// Whether the guards of a side table stand, in the state that a connection is reading.
  func contains(
    _ side: SideTable, of table: TableSQL, _ connection: Connection
  ) throws(SQLiteError) -> Bool {
    let version = try connection.schemaVersion()
    let known = state.withLock { $0.schemaVersion == version ? $0.sides[side.table] : nil }
    if let known { return known }
    let standing = try IndexGuards.read(connection)
    return state.withLock { state in
      if state.schemaVersion != version { state = State(schemaVersion: version) }
      let isGuarded = (table.guards + side.guards).allSatisfy { $0.stands(in: standing) }
      state.sides[side.table] = isGuarded
      return isGuarded
    }
  }
}
