// How the pages of a file are used.

import Dflat
import SQLiteAccess
import SQLiteDflat

/// How much of a file a table or an index of SQLite takes.
public struct SpaceUse: Sendable, Encodable {
  /// The name of the table or index in the file.
  public let name: String
  /// The type of Dflat that it belongs to; nil if it belongs to none.
  public let type: String?
  /// The number of its pages.
  public let pages: Int
  /// The size of these pages in bytes.
  public let bytes: Int
  /// How many of these bytes are content.
  public let payload: Int
  /// How many of these bytes nothing uses.
  public let unused: Int
}

extension DataFile {
  /// How much of the file each table and index takes, the greatest first. It reads the whole file.
  /// - Throws: ``ToolError`` if the file cannot be read, or this SQLite has no `dbstat`.
  public func statistics() throws -> [SpaceUse] {
    let rows = try withToolErrors {
      try workspace.inspect { connection in
        do throws(SQLiteError) {
          return try connection.rows(
            "SELECT name, count(*), sum(pgsize), sum(payload), sum(unused) FROM dbstat "
              + "GROUP BY name ORDER BY 3 DESC, 1")
        } catch {
          guard error.code == .error else { throw error }
          throw ToolError(
            .storage, "this SQLite has no dbstat: \(error.message)",
            advice: "use one that is built with SQLITE_ENABLE_DBSTAT_VTAB")
        }
      }
    }
    // `sqlite_autoindex_T_1`, `index__T__f10` and `T__f10` belong to the type with the table T.
    let owners = types.sorted { $0.table.count > $1.table.count }
    return rows.map { row in
      let name = row[0].text ?? ""
      func number(_ column: Int) -> Int { Int(row[column].integer ?? 0) }
      return SpaceUse(
        name: name, type: owners.first { name.contains($0.table) }?.name, pages: number(1),
        bytes: number(2), payload: number(3), unused: number(4))
    }
  }
}
