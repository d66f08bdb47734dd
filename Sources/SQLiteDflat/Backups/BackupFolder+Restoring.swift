// Restoring a backup of a folder: into a new file, or in the place of one that no program has open.

import Dflat
import Foundation
import Platform
import SQLiteAccess

extension BackupFolder {
  /// Makes a database of a backup, in a new file, and checks it. The file gets its name when it is
  /// whole.
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
    var restored: Backup?
    try FileBackup.finishing(filePath) { unfinished in
      restored = try write(backup, to: unfinished, named: filePath, progress)
    }
    guard let restored else { preconditionFailure("a file was finished that was not written") }
    return restored
  }

  /// Writes a backup to a new file, and checks that.
  /// - Parameter name: The path for errors.
  private func write(
    _ backup: Backup?, to filePath: String, named name: String,
    _ progress: (_ remaining: Int, _ total: Int) -> Void
  ) throws -> Backup {
    let backups = try backups()
    guard let wanted = backup ?? backups.last else {
      throw StorageError(
        .cannotOpen, message: "there is no backup in the folder", path: path,
        advice: "check the path")
    }
    let state = try BackedUpState(try Self.chain(of: wanted, in: backups))
    let file = try PlainFile(creating: filePath, FileRights(of: wanted.path))
    try state.write(to: file, progress)
    try FileBackup.requireSound(filePath, named: name, "the backup \(wanted.number) is damaged")
    return wanted
  }

  /// Puts a backup in the place of a file that no program has open.
  ///
  ///     let kept = try BackupFolder("/backups/notes").restore(replacing: "/data/notes.db")
  ///
  /// The backup is restored beside the file and checked. Then it takes the place of the file, at
  /// once. The file and its log are kept beside it under the name that is returned. One process at
  /// a time does this to a file; another one waits. Shut down the workspaces of this process that
  /// use the file before. Whenever the process ends, either file is at the path, with its own log.
  ///
  /// - Parameters:
  ///   - backup: The backup; nil for the newest one.
  ///   - filePath: The file. It may be damaged.
  ///   - progress: Called now and then with the numbers of pages that are left, and of all.
  /// - Returns: The path of the replaced file, such as `/data/notes.db.replaced`.
  /// - Throws: `StorageError`: `.busy` if a program has the file open; `.cannotOpen` if there is no
  ///   such file, or no backup; `.corruptFile` if the backup, or one that it builds on, is damaged
  ///   or missing; `.diskFull`. The file is as it was then.
  @discardableResult
  public func restore(
    _ backup: Backup? = nil, replacing filePath: String,
    progress: (_ remaining: Int, _ total: Int) -> Void = { _, _ in }
  ) throws -> String {
    guard let file = Self.resolved(filePath) else {
      throw StorageError(
        .cannotOpen, message: "there is no such file", path: filePath,
        advice: "check the path, or restore the backup to a new file")
    }
    let lock = try ReplacementLock.cleared(file)
    defer { lock.release() }
    return try restore(backup, replacing: file, lock, progress: progress)
  }

  /// The same for a file whose lock the caller has.
  func restore(
    _ backup: Backup?, replacing file: String, _ lock: ReplacementLock,
    patience: Duration = .zero, progress: (_ remaining: Int, _ total: Int) -> Void
  ) throws -> String {
    do {
      _ = try write(backup, to: lock.copy, named: file, progress)
      return try FileReplacement.exchange(file, by: lock.copy, lock, patience: patience)
    } catch {
      unlink(lock.copy)
      throw error
    }
  }

  /// The path of a file without symbolic links; nil if there is no such file.
  package static func resolved(_ path: String) -> String? { Connection.resolvedPath(path) }

  // MARK: Looking for a good one

  /// The newest backup that can be restored: it and those that it builds on are read, and checked
  /// as far as that is possible without writing. Damaged ones are passed over.
  ///
  /// This reads whole backups, which takes as long as reading files of their size, and more for the
  /// check of their structure.
  ///
  /// - Returns: The backup; nil if there is none.
  /// - Throws: `StorageError` if the folder cannot be read.
  public func newestGoodBackup() throws -> Backup? {
    let backups = try backups()
    var structures: [Int: Bool] = [:]
    for backup in backups.reversed() {
      do {
        let chain = try Self.chain(of: backup, in: backups)
        _ = try BackedUpState(chain)
        let whole = chain[0]
        if structures[whole.number] == nil {
          structures[whole.number] =
            (try? FileBackup.requireSound(whole.path, "the backup is damaged")) != nil
        }
        if structures[whole.number] == true { return backup }
      } catch is StorageError {}
    }
    return nil
  }
}
