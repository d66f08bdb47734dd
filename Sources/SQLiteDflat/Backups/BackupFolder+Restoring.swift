// Restoring a backup of a folder into a new file.

import Dflat
import Foundation
import SQLiteAccess

extension BackupFolder {
  /// Makes a database of a backup, in a new file, and checks it.
  ///
  ///     let folder = BackupFolder("/backups/notes")
  ///     try folder.restore(to: "/data/notes-restored.db")
  ///
  /// - Parameters:
  ///   - backup: The backup; nil for the newest one.
  ///   - filePath: Where no file is.
  ///   - progress: Called now and then with the numbers of pages that are left, and of all.
  /// - Returns: The backup that was restored.
  /// - Throws: `StorageError`: `.cannotOpen` if there is no backup, a file is there, or it cannot
  ///   be created; `.corruptFile` if the backup, or one that it builds on, is damaged or missing;
  ///   `.diskFull`. Nothing is left at `filePath` then, and the folder is unchanged.
  @discardableResult
  public func restore(
    _ backup: Backup? = nil, to filePath: String,
    progress: (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> Backup {
    let backups = try backups()
    guard let wanted = backup ?? backups.last else {
      throw StorageError(
        .cannotOpen, message: "there is no backup in the folder", path: path,
        advice: "check the path")
    }
    try FileBackup.requireNothing(at: filePath)
    let state = try BackedUpState(try Self.chain(of: wanted, in: backups))
    do {
      try state.write(to: try PlainFile(creating: filePath), progress)
      try FileBackup.requireSound(filePath, "the backup \(wanted.number) is damaged")
    } catch {
      unlink(filePath)
      throw error
    }
    return wanted
  }
}
