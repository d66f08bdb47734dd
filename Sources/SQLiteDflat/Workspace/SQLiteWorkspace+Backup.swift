// Copying a workspace's file while it is in use, also when it is not at its path any more.

import Dflat
import SQLiteAccess

extension SQLiteWorkspace {
  /// Copies the whole database, one state of it, into a new file.
  ///
  ///     try await dflat.backup(to: "/backups/posts-2025-11-27.db")
  ///
  /// Transactions and queries go on meanwhile. The copy has everything that is in the file, also
  /// the tables of other programs, and can be opened like it.
  ///
  /// It works as well after the workspace's file was removed, moved or replaced while it was open
  /// (`StorageError.Cause.fileReplaced`): the workspace still has the open file, and the copy has
  /// all that was committed. Transactions wait meanwhile.
  /// - Parameter filePath: Where no file is, nor a log (`-wal`) that another file has left.
  /// - Throws: `StorageError`: `.cannotOpen` if a file is there, a file cannot be created there, or
  ///   the workspace has no file yet; `.diskFull`. Nothing is left there then.
  ///   `WorkspaceError.shutDown`.
  public func backup(to filePath: String) async throws {
    let target = Connection.absolutePath(filePath)
    do {
      try await _core.accepted { [engine] in try engine.backup(to: target) }
    } catch let error as StorageError where error.cause == .fileReplaced {
      try await _core.betweenTransactions { [engine] in try engine.session.backup(to: target) }
    }
  }
}
