// Backups of a workspace's file while it is in use: a copy, also when the file is not at its path
// any more, or one of the backups in a folder.

import Dflat
import SQLiteAccess

extension SQLiteWorkspace {
  /// Copies the whole database, one state of it, into a new file.
  ///
  ///     try await dflat.backup(to: "/backups/posts-2025-11-27.db")
  ///
  /// Transactions and queries go on meanwhile. The copy has everything that is in the file, also
  /// the tables of other programs, and can be opened like it. When it is complete, its structure is
  /// checked (`PRAGMA integrity_check`).
  ///
  /// It works as well after the workspace's file was removed, moved or replaced while it was open
  /// (`StorageError.Cause.fileReplaced`): the workspace still has the open file, and the copy has
  /// all that was committed. Transactions wait meanwhile. That copy is not checked, since it may be
  /// all that is left.
  ///
  /// - Parameters:
  ///   - filePath: Where no file is, nor a log (`-wal`) that another file has left.
  ///   - progress: Called on another thread, now and then, with the numbers of pages that are left,
  ///     and of all.
  /// - Throws: `StorageError`: `.cannotOpen` if a file is there, a file cannot be created there, or
  ///   the workspace has no file yet; `.corruptFile` if the file is damaged, and so its copy;
  ///   `.diskFull`. Nothing is left there then. `WorkspaceError.shutDown`.
  public func backup(
    to filePath: String, progress: (@Sendable (_ remaining: Int, _ total: Int) -> Void)? = nil
  ) async throws {
    let target = Connection.absolutePath(filePath)
    do {
      try await _core.accepted { [engine] in try engine.backup(to: target, progress) }
    } catch let error as StorageError where error.cause == .fileReplaced {
      try await _core.betweenTransactions { [engine] in try engine.session.backup(to: target) }
    }
  }

  /// When backups are made without being asked for.
  public enum BackupPolicy: Sendable, Equatable {
    /// Only when the program calls ``SQLiteWorkspace/backup(into:keep:progress:)``.
    case onRequest
    /// When the newest backup in the folder is at least as old, by whichever workspace. So many
    /// are kept.
    case every(MaintenanceInterval, keep: Int, in: String)
  }

  /// Makes a backup in a folder that holds those of one database: a whole one, or only the pages
  /// that have changed since the last one.
  ///
  ///     let backup = try await dflat.backup(into: "/backups/notes", keep: 7)
  ///
  /// It has one state. Transactions and queries go on meanwhile. The database is checked
  /// (`PRAGMA integrity_check`, and the checksums of its rows with
  /// ``Configuration/rowChecksums``), and what was written is read again; then the backup gets its
  /// name.
  /// Whenever the process ends before, the folder has the backups that it had. A whole backup is
  /// made when there is none, when the changed pages together exceed it, and when `keep` backups,
  /// or 30, were made since. ``BackupFolder/restore(_:to:progress:)`` makes a database of any of
  /// them.
  ///
  /// - Parameters:
  ///   - folder: The path of the folder. It is created if it is not there.
  ///   - keep: How many backups are kept, at least 1. Older ones that none of these builds on are
  ///     removed after the new one is finished. If nil, nothing is removed.
  ///   - progress: Called on another thread, now and then, with the numbers of pages that are left,
  ///     and of all.
  /// - Returns: The backup.
  /// - Throws: `StorageError`: `.corruptFile` if the database is damaged, `.busy` if another backup
  ///   is being made in the folder, `.cannotOpen` if it cannot be created or the workspace has no
  ///   file yet, `.diskFull`. `WorkspaceError.shutDown`. The folder has the same backups then; only
  ///   if an older one could not be removed, the new one is there as well.
  @discardableResult
  public func backup(
    into folder: String, keep: Int? = nil,
    progress: (@Sendable (_ remaining: Int, _ total: Int) -> Void)? = nil
  ) async throws -> BackupFolder.Backup {
    require(
      keep ?? 1 > 0, "backup(into:keep:) was called with \(keep ?? 0): keep at least the new one")
    let target = BackupFolder(Connection.absolutePath(folder))
    return try await _core.accepted { [engine] in
      try engine.backup(into: target, keeping: keep) {
        progress?($0, $1)
        return true
      }
    }
  }
}
