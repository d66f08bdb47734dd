// TakenName: a view or an index of another program that has the name of a table which a type needs.
//
// SQLite makes no table of this name then, and its errors do not say why. Dflat drops nothing that
// is not its own, so transactions of the type fail until it is removed.

import Dflat
import SQLiteAccess

/// What has the name of a table that a type needs, and is no table.
struct TakenName {
  /// The name in the file.
  let name: String
  /// `view` or `index`.
  let kind: String
  /// What the table is for.
  let purpose: String

  /// What is wrong.
  var message: String {
    "\(kind == "view" ? "a view" : "an index") of another program has the name of the table of "
      + "\(purpose), so no object of the type can be stored"
  }

  /// What to do about it.
  var advice: String {
    "drop it, and create it again under another name if it is needed: "
      + "DROP \(kind.uppercased()) \(name.quoted)"
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
    let names = Dictionary(purposes.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    let rows = try connection.rows(
      "SELECT name, type FROM sqlite_master WHERE type IN ('view', 'index') AND lower(name) IN ("
        + names.keys.sorted().map(\.sqlText).joined(separator: ", ") + ") ORDER BY name")
    return rows.compactMap { row in
      guard let name = row[0].text, let kind = row[1].text,
        let purpose = names[name.lowercased()]
      else { return nil }
      return TakenName(name: name, kind: kind, purpose: purpose)
    }
  }
}
