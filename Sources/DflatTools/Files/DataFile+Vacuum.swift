// Vacuuming a file: into a new one if no program has it open, or in steps beside running programs.

import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

/// What a vacuum did.
public struct VacuumReport: Sendable, Encodable {
  /// The path of the file as it was given.
  public let path: String
  /// Its size in bytes before, with its log.
  public let bytesBefore: Int
  /// Its size in bytes now, with its log.
  public let bytesAfter: Int
}

extension DataFile {
  /// How many pages are given back at a time.
  private static let pagesPerStep = 256

  /// Rewrites a file: without free pages, and with the rows of each table next to each other. The
  /// new file is checked, and then takes the place of the old one.
  ///
  /// The new file is written beside the old one, under its name and `.vacuumed`; the old one is
  /// called `.before-vacuum` until it is removed. What a killed vacuum has left under these names
  /// is removed.
  ///
  /// Call it only if this process does not have the file open.
  /// - Parameter path: The file. It must exist.
  /// - Returns: The sizes.
  /// - Throws: ``ToolError`` if a program has the file open, it is damaged, it has several names
  ///   (hard links), or there is no space for the new one. The file is as it was then.
  public static func vacuum(_ path: String) throws -> VacuumReport {
    try requireFile(path)
    let given = path
    // Through symbolic links: the log is beside the file.
    let path = BackupFolder.resolved(path) ?? path
    // Otherwise the new file would lack what is in the log.
    try withToolErrors { try FileReplacement.finishIfInterrupted(path) }
    let (new, old) = (path + ".vacuumed", path + ".before-vacuum")
    let before = size(path)
    try withSQLiteErrors(path) {
      let connection = try exclusive(path)
      let isWAL = try connection.pragma("main.journal_mode") == .text("wal")
      do {
        // Without a log everything is in the file, and nothing is left beside the new one. It
        // fails if another connection is open.
        if isWAL { try connection.execute("PRAGMA main.journal_mode = DELETE") }
        try connection.execute("BEGIN EXCLUSIVE; COMMIT")
        // No other vacuum is under way now.
        for left in [new, new + "-journal", old] where isThere(left) {
          try withToolErrors { try remove(left) }
        }
        try requireOneName(path)
        try connection.vacuum(into: new)
        try requireSound(new)
        if isWAL { try setWAL(new) }
        try withToolErrors {
          try FileReplacement.replace(path, by: new, keeping: old, besides: 1)
        }
      } catch {
        // What was made so far is of no use, and the file is to be as it was.
        if isThere(new) { try withToolErrors { try remove(new) } }
        if isWAL { try? connection.execute("PRAGMA main.journal_mode = WAL") }
        throw error
      }
      try connection.close()
      try withToolErrors { try remove(old) }
    }
    return VacuumReport(path: given, bytesBefore: before, bytesAfter: size(path))
  }

  /// Throws if a file has several hard links: a file that takes its place would have one of the
  /// names, and the old file the others.
  static func requireOneName(_ path: String) throws {
    var status = stat()
    guard stat(path, &status) == 0, status.st_nlink > 1 else { return }
    throw ToolError(
      .storage,
      "\(path) has \(status.st_nlink) names (hard links), and a new file would take only this one: "
        + "nothing was changed",
      advice: "remove all names but one")
  }

  /// Gives the free pages of a file back to the file system in steps, beside running programs. Only
  /// a file with incremental auto-vacuum can do that; those that Dflat creates have it.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - progress: Called after each step, with the number of pages that were free and are not yet
  ///     given back, and the number at the beginning. If it returns false, the vacuum ends.
  /// - Returns: The sizes.
  /// - Throws: ``ToolError`` if the file cannot be vacuumed in steps, or cannot be written.
  public static func vacuumInSteps(
    _ path: String, progress: (_ remaining: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws -> VacuumReport {
    try requireFile(path)
    try withToolErrors { try FileReplacement.finishIfInterrupted(path) }
    let before = size(path)
    try withSQLiteErrors(path) {
      let connection = try Connection(path: path, mode: .readWrite)
      try connection.execute("PRAGMA wal_autocheckpoint = 0")
      guard
        try connection.pragma("main.auto_vacuum")
          == .integer(DatabaseFileSettings.AutoVacuum.incremental.rawValue)
      else {
        throw ToolError(
          .usage, "\(path) cannot be vacuumed in steps: its auto-vacuum is not incremental",
          advice: "vacuum it without --incremental while no program has it open")
      }
      let total = try connection.freelistCount()
      var remaining = total
      while remaining > 0 {
        let freed = try connection.incrementalVacuum(pages: pagesPerStep)
        remaining = try connection.freelistCount()
        if !progress(remaining, total) || freed == 0 { break }
      }
      // The file becomes shorter with the checkpoint. A reader may prevent it; then a program that
      // writes does it later.
      try connection.checkpoint(.truncate, timeoutMilliseconds: 1000)
      try connection.close()
    }
    return VacuumReport(path: path, bytesBefore: before, bytesAfter: size(path))
  }

  /// A connection that excludes all others, from its first use on.
  private static func exclusive(_ path: String) throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 0)
    try connection.execute("PRAGMA main.locking_mode = EXCLUSIVE")
    return connection
  }

  private static func setWAL(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    try connection.execute("PRAGMA main.journal_mode = WAL")
    try connection.close()
  }

  // MARK: Shared with restoring

  static func remove(_ path: String) throws {
    try FileReplacement.call("it cannot be removed", path) { unlink(path) }
  }

  static func isThere(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  static func requireNothing(at paths: [String]) throws {
    if let path = paths.first(where: { isThere($0) }) {
      throw ToolError(
        .storage, "there is a file \(path) already, which an earlier call may have left",
        advice: "look whether it is needed, and move it away")
    }
  }

  /// - Throws: `ToolError` if a file is damaged.
  static func requireSound(_ path: String) throws {
    let lines = integrityLines(path)
    if lines != ["ok"] {
      throw ToolError(
        .badData, "\(path) is damaged: \(lines.joined(separator: "; "))",
        advice: "see 'dflat check', and restore a backup")
    }
  }

  /// The size of a file in bytes, with its log.
  /// - Throws: ``ToolError`` if there is no such file.
  package static func bytes(ofFileAt path: String) throws -> Int {
    try requireFile(path)
    return size(path)
  }

  private static func size(_ path: String) -> Int {
    [path, FileReplacement.path(of: "-wal", beside: path)].reduce(0) { sum, path in
      var status = stat()
      return stat(path, &status) == 0 ? sum + Int(status.st_size) : sum
    }
  }

  private static func withSQLiteErrors(_ path: String, _ body: () throws -> Void) throws {
    do { try body() } catch let error as SQLiteError {
      if error.isBusy { throw ToolError(FileExclusion.inUse(path)) }
      if let problem = StorageError(changing: path, error) { throw ToolError(problem) }
      if let missing = error.missingDefinition {
        throw ToolError(
          .storage, "\(path) cannot be vacuumed here: it uses \(missing), which is not known",
          advice: "vacuum it with the program that has it; nothing was changed")
      }
      throw ToolError(error.isCorrupt ? .badData : .storage, "\(error)")
    }
  }
}
