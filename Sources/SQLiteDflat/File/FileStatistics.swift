// How the pages of a file are used, and which readers keep its log from being moved into it.

package import SQLiteAccess

/// How a file is used at a moment.
public struct FileStatistics: Sendable, Encodable {
  /// How much of the file each table and index takes, the greatest first.
  public let uses: [SpaceUse]
  /// The size of the file in bytes.
  public let bytes: Int
  /// How many of these bytes are free pages.
  public let freeBytes: Int
  /// The size of the write-ahead log in bytes; 0 if there is none.
  public let logBytes: Int
  /// The programs that read a state of the log at this moment, the longest reader of this workspace
  /// first. As long as one does, the log cannot restart, and grows.
  public let logReaders: [LogReader]
}

/// How much of a file a table or an index of SQLite takes.
public struct SpaceUse: Sendable, Encodable, Equatable {
  /// The name of the table or index in the file.
  public let name: String
  /// The type of Dflat that it belongs to; nil if it belongs to none, or to none that is known.
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

/// A program that reads a state of the log.
public struct LogReader: Sendable, Encodable, Equatable, CustomStringConvertible {
  /// The number of the process; nil if the system does not tell.
  public let process: Int32?
  /// The name of its program, if the system tells.
  public let program: String?
  /// Whether it is this process.
  public let isOwn: Bool
  /// For how many seconds the oldest snapshot of this workspace has been open; nil for other
  /// programs, and for queries.
  public let snapshotAge: Double?

  /// The process, its program and the age of the snapshot: `process 4711 (blogd)`.
  public var description: String {
    let name = process.map { "process \($0)" } ?? "a process of another container"
    let age = snapshotAge.map { ", with a snapshot that is \(Int($0)) s old" } ?? ""
    return name + (program.map { " (\($0))" } ?? "") + age
  }
}

/// What SQLite's table `dbstat` shows of a file.
package enum SpaceUses {
  /// - Parameter types: The names of types by their tables.
  /// - Returns: nil if this SQLite has no `dbstat`.
  /// - Throws: `SQLiteError`.
  package static func read(
    _ connection: Connection, types: [String: String]
  ) throws(SQLiteError) -> [SpaceUse]? {
    let rows: [[SQLValue]]
    do throws(SQLiteError) {
      rows = try connection.rows(
        "SELECT name, count(*), sum(pgsize), sum(payload), sum(unused) FROM dbstat "
          + "GROUP BY name ORDER BY 3 DESC, 1")
    } catch {
      guard error.code == .error else { throw error }
      return nil
    }
    // `sqlite_autoindex_T_1`, `index__T__f10` and `T__f10` belong to the type with the table T.
    let tables = types.keys.sorted { ($0.count, $0) > ($1.count, $1) }
    return rows.map { row in
      let name = row[0].text ?? ""
      func number(_ column: Int) -> Int { Int(row[column].integer ?? 0) }
      return SpaceUse(
        name: name, type: tables.first { name.contains($0) }.flatMap { types[$0] },
        pages: number(1), bytes: number(2), payload: number(3), unused: number(4))
    }
  }
}
