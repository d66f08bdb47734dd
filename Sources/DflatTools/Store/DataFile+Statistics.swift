// How the pages of a file are used, and which readers keep its log: the same numbers that programs
// have.

import Dflat
public import SQLiteDflat

/// How much of a file a table or an index of SQLite takes.
public typealias SpaceUse = SQLiteDflat.SpaceUse

extension DataFile {
  /// How much of the file each table and index takes, the greatest first. It reads the whole file.
  /// - Throws: ``ToolError`` if the file cannot be read, or this SQLite has no `dbstat`.
  public func statistics() throws -> [SpaceUse] { try fileStatistics().uses }

  /// The same, with the sizes of the file and of its log, and with the programs that read the log.
  /// - Throws: ``ToolError`` if the file cannot be read, or this SQLite has no `dbstat`.
  public func fileStatistics() throws -> FileStatistics {
    let names = Dictionary(types.map { ($0.table, $0.name) }) { first, _ in first }
    return try withToolErrors { try workspace.inspectStatistics(types: names) }
  }
}
