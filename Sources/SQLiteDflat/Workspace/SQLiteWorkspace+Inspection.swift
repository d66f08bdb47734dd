// What tools ask a file beside its objects.

import Dflat
package import SQLiteAccess

extension SQLiteWorkspace {
  /// Calls `body` with one of the connections that read the file. It may be called again if the
  /// file is read without locks, and is changed meanwhile.
  /// - Parameters:
  ///   - wholeFile: Whether it reads all that is in the file.
  /// - Throws: `StorageError`; the errors of `body`.
  package func inspect<R>(
    wholeFile: Bool = false, _ body: (Connection) throws -> R
  ) throws -> R {
    if wholeFile { return try engine.readingWhole { try inspect(body) } }
    do { return try engine.onReader(for: .query, body) } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }

  /// A connection of its own, whose `dataVersion` tells the transactions of this workspace and of
  /// all others.
  /// - Returns: nil if there is no file yet. Close it before the workspace is shut down.
  /// - Throws: `StorageError`.
  package func watchingConnection() throws -> Connection? {
    do throws(SQLiteError) {
      let connection = try Connection(
        path: Connection.absolutePath(engine.path), mode: isWritable ? .readWrite : .readOnly)
      connection.checkpointsOnClose = false
      return connection
    } catch {
      if error.code == .cantOpen { return nil }
      throw StorageError(error)
    }
  }

  /// Makes a backup, as `backup(into:keep:progress:)` does, on the calling thread. Rows that have
  /// checksums are checked, whatever workspace wrote them.
  /// - Throws: `StorageError`.
  package func addBackup(
    to folder: String, keep: Int?,
    progress: @escaping (_ remaining: Int, _ total: Int) -> Void
  ) throws -> BackupFolder.Backup {
    let target = BackupFolder(Connection.absolutePath(folder))
    return try engine.backup(into: target, keeping: keep, readingRows: true) {
      progress($0, $1)
      return true
    }
  }

  /// Copies the file, as `backup(to:)` does, on the calling thread.
  /// - Parameter progress: Called now and then with the numbers of pages that are left, and of all.
  /// - Throws: `StorageError`.
  package func copyFile(
    to path: String, progress: @escaping (_ remaining: Int, _ total: Int) -> Void
  ) throws {
    try engine.backup(to: Connection.absolutePath(path), progress)
  }
}
