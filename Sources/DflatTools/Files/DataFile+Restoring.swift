// Restoring a backup: to a new place, or in the place of a file that no program has open.

import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

/// What a restore did.
public struct RestoreReport: Sendable, Encodable {
  /// The path of the restored file.
  public let path: String
  /// Its size in bytes.
  public let bytes: Int
  /// Where the file is that it has replaced; nil if none was there.
  public let replaced: String?
}

extension DataFile {
  /// Copies a backup to where it is used, and checks the copy before it gets its name.
  ///
  /// A file that is replaced is kept beside it, with its log, under another name. Call it only if
  /// this process does not have that file open.
  ///
  /// - Parameters:
  ///   - backup: The backup. It must exist. A folder of backups stands for the newest one, and a
  ///     file of changed pages for the database that its chain makes.
  ///   - path: Where the file is to be.
  ///   - replaces: Whether a file that is there is replaced. It may be damaged.
  ///   - progress: Called while the backup is copied, with the number of pages that are left, and
  ///     of all.
  /// - Returns: What was done.
  /// - Throws: ``ToolError`` if the backup is damaged, a file is there and is not to be replaced, a
  ///   program has it open, or it has several names (hard links). Everything is as it was then.
  public static func restore(
    _ backup: String, to path: String, replacing replaces: Bool = false,
    progress: @escaping (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> RestoreReport {
    let stored = try storedBackup(backup)
    if stored == nil { try requireFile(backup) }
    if stored == nil, areSame(backup, path) {
      throw ToolError(.usage, "\(path) is the backup itself", advice: "name another file")
    }
    let isReplacing = isThere(path)
    if isReplacing, !replaces {
      throw ToolError(
        .storage, "there is a file \(path) already",
        advice: "name a new file, or replace it with --replace")
    }
    // A log without its file would be taken for that of the restored one.
    if !isReplacing { try requireNothing(at: ["-wal", "-journal"].map { path + $0 }) }
    // Through symbolic links: the log is beside the file.
    let place = BackupFolder.resolved(path) ?? path
    let lock = try isReplacing ? withToolErrors { try ReplacementLock.cleared(place) } : nil
    defer { lock?.release() }
    if isReplacing { try requireOneName(place) }
    let new = lock?.copy ?? path + ".restored"
    try requireNothing(at: [new])
    let bytes =
      if let stored {
        try withToolErrors {
          try stored.folder.restore(stored.backup, to: new, progress: progress)
          return try FileManager.default.attributesOfItem(atPath: new)[.size] as? Int ?? 0
        }
      } else {
        try restoredCopy(of: backup, at: new, progress)
      }
    do {
      return try withToolErrors {
        if let lock {
          let kept = try FileReplacement.exchange(place, by: new, lock)
          return RestoreReport(path: path, bytes: bytes, replaced: kept)
        }
        try FileReplacement.call("it cannot get the name \(path)", new) { link(new, path) }
        try remove(new)
        FileReplacement.syncName(of: path)
        return RestoreReport(path: path, bytes: bytes, replaced: nil)
      }
    } catch {
      if isThere(new) { try withToolErrors { try remove(new) } }
      throw error
    }
  }

  /// The backup that a path names, if it is one of a folder.
  private static func storedBackup(
    _ path: String
  ) throws -> (folder: BackupFolder, backup: BackupFolder.Backup)? {
    let url = URL(filePath: path)
    var isFolder = false
    var status = stat()
    if stat(path, &status) == 0 { isFolder = status.st_mode & S_IFMT == S_IFDIR }
    if !isFolder, url.pathExtension != "pages" { return nil }
    let folder = BackupFolder(isFolder ? path : url.deletingLastPathComponent().path)
    let backups = try withToolErrors { try folder.backups() }
    let backup = backups.last {
      isFolder || URL(filePath: $0.path).lastPathComponent == url.lastPathComponent
    }
    if let backup { return (folder, backup) }
    throw ToolError(
      .noSuchFile, "there is no backup \(isFolder ? "in " : "")\(path)", advice: "check the path")
  }

  private static func restoredCopy(
    of backup: String, at new: String, _ progress: @escaping (Int, Int) -> Void
  ) throws -> Int {
    do {
      let file = try open(backup)
      defer { file.close() }
      return try file.backup(to: new, progress: progress)
    } catch let error as ToolError where error.kind == .badData {
      throw ToolError(
        .badData, "the backup \(backup) is damaged, and nothing was changed: \(error.message)",
        advice: "restore another backup, or see 'dflat check \(backup)'")
    }
  }
}
