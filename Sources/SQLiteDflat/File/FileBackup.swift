// FileBackup: copies of the database file.
//
//  - A copy is made of a reader's state. The writer goes on.
//  - If no reader can be opened, because the file is not at its path any more, the copy is made of
//    the writing connection, between transactions.
//  - A copy that fails is removed.

import Dflat
import Platform
import SQLiteAccess

extension SQLiteEngine {
  /// - Parameter progress: Called now and then with the numbers of pages that are left, and of all.
  func backup(
    to path: String, _ progress: ((_ remaining: Int, _ total: Int) -> Void)? = nil
  ) throws {
    try withStorageErrors {
      let lease: ReaderLease
      do { lease = try readers.checkout(beyondLimit: true) } catch let error as SQLiteError
        where error.isNoSuchFile
      {
        throw StorageError.missingFile(self.path)
      }
      defer { lease.end() }
      try lease.connection.transaction(.deferred) {
        _ = try lease.connection.schemaVersion()
        try FileBackup.copy(lease.connection, to: path, progress)
      }
    }
  }
}

extension WriteSession {
  /// Copies the file that the writing connection has open. The caller holds the write lease.
  func backup(to path: String) throws {
    try withStorageErrors {
      try withStateSoon { state in
        guard let connection = state.connection else { throw StorageError.missingFile(self.path) }
        // Keeps other threads from asking the connection about external changes meanwhile.
        externalChanges.writerChanges()
        defer { externalChanges.writerEnded() }
        try FileBackup.copy(connection, to: path)
      }
    }
  }
}

private enum FileBackup {
  /// How many pages are copied between two calls about the progress.
  private static let pagesPerStep = 1024

  static func copy(
    _ connection: Connection, to path: String, _ progress: ((Int, Int) -> Void)? = nil
  ) throws {
    for suffix in ["", "-wal", "-journal"] where exists(path + suffix) {
      throw StorageError(
        .cannotOpen, message: "there is a file already", path: path + suffix,
        advice: "give the path of a new file")
    }
    do {
      try connection.backup(to: path, pagesPerStep: progress == nil ? nil : pagesPerStep) {
        progress?($0, $1)
        return true
      }
    } catch {
      // Nothing was there before. What cannot be removed is reported by the next attempt.
      for suffix in ["", "-journal"] { unlink(path + suffix) }
      if error.path == path { throw StorageError(opening: path, error, isReadOnly: false) }
      throw error
    }
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}
