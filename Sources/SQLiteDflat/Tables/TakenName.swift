// TakenName: what else has the name of a table which a type needs.
//
//  - A view or an index of another program. SQLite makes no table of this name then, and its errors
//    do not say why. Dflat drops nothing that is not its own, so transactions of the type fail
//    until it is removed.
//  - The table of another type, whose name differs only in the case of letters. SQLite compares
//    A to Z without case, and these letters only, so both types would have one table, and each
//    would replace the objects of the other. So the type can neither be read nor stored.

import Dflat
import SQLiteAccess

/// What has the name of a table that a type needs, and is not that table.
struct TakenName {
  enum Kind: String {
    case view, index, table
  }

  /// The name in the file.
  let name: String
  let kind: Kind
  /// The name of the table that the type needs.
  let table: String
  /// What the table is for.
  let purpose: String

  /// What is wrong.
  var message: String {
    switch kind {
    case .view, .index:
      "\(kind == .view ? "a view" : "an index") of another program has the name of the table of "
        + "\(purpose), so no object of the type can be stored"
    case .table:
      "the table is that of another type, and SQLite does not tell its name from '\(table)', since "
        + "it compares letters without case; so no object of '\(table)' can be read or stored"
    }
  }

  /// What to do about it.
  var advice: String {
    switch kind {
    case .view, .index:
      "drop it, and create it again under another name if it is needed: "
        + "DROP \(kind.rawValue.uppercased()) \(name.quoted)"
    case .table:
      "give one of the types a table whose name differs by more than case, for stored values with "
        + "@Persistable(table:); if both are one type, spell its table as it is in the file"
    }
  }

  /// The error of a transaction.
  func error(_ path: String) -> StorageError {
    StorageError(.other, table: name, message: message, path: path, advice: advice)
  }

  /// Those of a type, in the order of the names.
  static func all(
    of sql: TableSQL, _ connection: Connection
  ) throws(SQLiteError) -> [TakenName] {
    var purposes = [sql.table: "its objects"]
    for side in sql.sides { purposes[side.table] = "the index of \(side.name)" }
    if let fullText = sql.fullText { purposes[fullText.table] = "the words of its texts" }
    if purposes.count > 1 { purposes[IndexMarks.table] = "the marks of its indexes" }
    return try all(of: purposes, tables: [sql.table], connection)
  }

  /// The table of another type that has the name of the main table, except for the case of letters.
  static func otherTable(
    of sql: TableSQL, _ connection: Connection
  ) throws(SQLiteError) -> TakenName? {
    try all(of: [sql.table: "its objects"], tables: [sql.table], connection)
      .first { $0.kind == .table }
  }

  /// - Parameter tables: Those whose names other tables may have.
  private static func all(
    of purposes: [String: String], tables: Set<String>, _ connection: Connection
  ) throws(SQLiteError) -> [TakenName] {
    let names = purposes.keys.sorted()
    let rows = try connection.rows(
      "SELECT name, type FROM sqlite_master WHERE type IN ('view', 'index', 'table') "
        + "AND name COLLATE NOCASE IN (" + names.map(\.sqlText).joined(separator: ", ")
        + ") ORDER BY name")
    return rows.compactMap { row in
      guard let name = row[0].text, let kind = row[1].text.flatMap(Kind.init),
        let table = names.first(where: { $0.isSameSQLiteName(as: name) }),
        let purpose = purposes[table]
      else { return nil }
      if kind == .table, name == table || !tables.contains(table) { return nil }
      return TakenName(name: name, kind: kind, table: table, purpose: purpose)
    }
  }
}

extension String {
  /// Whether SQLite takes two names for one: it compares the letters A to Z without case.
  func isSameSQLiteName(as other: String) -> Bool {
    utf8.elementsEqual(other.utf8) { $0.asciiLowercase == $1.asciiLowercase }
  }
}

extension UInt8 {
  fileprivate var asciiLowercase: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}
