// Copies of a file.

import Dflat
import Foundation
import SQLiteAccess
public import SQLiteDflat

extension DataFile {
  /// Copies the file, one state of it, into a new file, while programs go on using it, and checks
  /// the copy.
  ///
  /// - Parameters:
  ///   - path: Where no file is.
  ///   - progress: Called while it is copied, with the number of pages that are left, and of all.
  /// - Returns: The size of the copy in bytes.
  /// - Throws: ``ToolError`` if a file is there, the copy cannot be written, or it is damaged because
  ///   the file is. Nothing is left there then.
  public func backup(
    to path: String,
    progress: @escaping (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Int {
    try withToolErrors {
      try workspace.copyFile(to: path, progress: progress)
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      return (attributes[.size] as? Int) ?? 0
    }
  }

  /// Makes a backup in a folder that holds those of this file; see `SQLiteWorkspace`'s
  /// `backup(into:keep:progress:)`.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder. It is created if it is not there.
  ///   - keep: How many backups are kept, at least 1; nil for all.
  ///   - progress: Called while it is made, with the number of pages that are left, and of all.
  /// - Returns: The backup.
  /// - Throws: ``ToolError``. The folder has the same backups then.
  public func backup(
    into folder: String, keep: Int? = nil,
    progress: @escaping (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> BackupFolder.Backup {
    if let keep, keep < 1 {
      throw ToolError(
        .usage, "\(keep) backups cannot be kept", advice: "keep at least the new one")
    }
    return try withToolErrors {
      try workspace.addBackup(to: folder, keep: keep, progress: progress)
    }
  }

  /// The tables of which a check, or the check of a copy, looks at the pages only. To compare their
  /// rows and indexes takes a collation or a function that only their program has.
  ///
  /// - Returns: A name, and what is missing, for each: `notes (the collation my)`.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func incomparableTables() throws -> [String] {
    try withToolErrors {
      try workspace.inspect { try $0.tablesWithMissingDefinitions() }
        .map { "\($0.table) (\($0.missing))" }
    }
  }

  /// What SQLite says of the structure of a file: `ok`, or what is wrong.
  static func integrityLines(_ path: String) -> [String] {
    do throws(SQLiteError) {
      let connection = try Connection.openLeavingNoTrace(path: path)
      var report = IntegrityReport()
      try connection.checkIntegrity(limit: 3, into: &report)
      try connection.close()
      return report.problems.isEmpty ? ["ok"] : report.problems
    } catch {
      return ["\(error)"]
    }
  }
}
