// FileBackup: copies of the database file.
//
//  - A copy is made of a reader's state. The writer goes on.
//  - It is checked when the reader has ended, so that the log may restart meanwhile.
//  - If no reader can be opened, because the file is not at its path any more, the copy is made of
//    the writing connection, between transactions. It may be the last one, and is not checked.
//  - A copy that fails is removed.

import Dflat
import Foundation
import Platform
import SQLiteAccess

extension SQLiteEngine {
  /// - Parameter progress: Called now and then with the numbers of pages that are left, and of all.
  func backup(
    to path: String, _ progress: ((_ remaining: Int, _ total: Int) -> Void)? = nil
  ) throws {
    try withOneState { try FileBackup.copy($0, to: path, progress) }
    do { try FileBackup.requireSound(path, "the file is damaged, and so is its copy") } catch {
      unlink(path)
      throw error
    }
  }

  /// Makes a backup in a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder. It is created if it is not there.
  ///   - keep: How many backups are to be kept; nil for all.
  ///   - readsRows: Whether the checksums of rows are checked; nil to do so if the workspace writes
  ///     them.
  ///   - begun: Called with the connection that is read. It ends the backup with false.
  ///   - progress: As `begun`, now and then, with the numbers of pages that are left, and of all.
  func backup(
    into folder: BackupFolder, keeping keep: Int?, readingRows readsRows: Bool? = nil,
    begun: (Connection) -> Bool = { _ in true },
    progress: @escaping (_ remaining: Int, _ total: Int) -> Bool
  ) throws -> BackupFolder.Backup {
    try withOneState { connection in
      guard begun(connection) else { throw WorkspaceError.shutDown }
      if readsRows ?? configuration.rowChecksums { try FileBackup.requireSoundRows(connection) }
      return try folder.add(connection, keeping: keep, at: Date(), progress)
    }
  }

  /// Calls `body` with a reader that keeps the state which it has read.
  private func withOneState<R>(_ body: (Connection) throws -> R) throws -> R {
    try withStorageErrors {
      let lease: ReaderLease
      do {
        try openForReading()
        lease = try readers.checkout(beyondLimit: true)
      } catch let error as SQLiteError where error.isNoSuchFile {
        throw StorageError.missingFile(self.path)
      }
      defer { lease.end() }
      return try lease.connection.transaction(.deferred) {
        _ = try lease.connection.schemaVersion()
        return try body(lease.connection)
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

enum FileBackup {
  /// How many pages are copied between two calls about the progress.
  static let pagesPerStep = 1024

  static func copy(
    _ connection: Connection, to path: String, _ progress: ((Int, Int) -> Void)? = nil
  ) throws {
    try requireNothing(at: path)
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

  /// - Throws: `StorageError.cannotOpen` if there is a file, or the log of one.
  static func requireNothing(at path: String) throws {
    for suffix in ["", "-wal", "-journal"] {
      var status = stat()
      if lstat(path + suffix, &status) != 0 { continue }
      throw StorageError(
        .cannotOpen, message: "there is a file already", path: path + suffix,
        advice: "give the path of a new file")
    }
  }

  /// - Throws: `StorageError.corruptFile` if a row has a checksum that is not that of its bytes.
  static func requireSoundRows(_ connection: Connection) throws {
    try withStorageErrors {
      for (table, _) in try StoredTables(connection).mains {
        let rows = try connection.statement(
          "SELECT rowid, p FROM \(table.quoted) WHERE length(p) & 3 = 1")
        while try rows.step() {
          if !RowChecksum.isWrong(rows.blob(1)) { continue }
          throw StorageError(
            .corruptFile, table: table, rowid: rows.int64(0),
            message: "\(RowChecksum.refusalReason): no backup was made of the file",
            path: connection.path,
            advice: "see 'dflat check', and restore the object, or a backup")
        }
      }
    }
  }

  /// - Throws: `StorageError.corruptFile` with `problem` if the structure of a file is damaged.
  static func requireSound(_ path: String, _ problem: String) throws {
    try withStorageErrors {
      let connection = try Connection.openLeavingNoTrace(path: path)
      try requireSound(connection, problem)
      try connection.close()
    }
  }

  /// The same for the file that a connection reads.
  static func requireSound(_ connection: Connection, _ problem: String) throws {
    // What else is found is of no concern for a copy: it is the same in the file itself.
    var report = IntegrityReport()
    try withStorageErrors { try connection.checkIntegrity(limit: 3, into: &report) }
    if report.problems.isEmpty { return }
    throw StorageError(
      .corruptFile, message: "\(problem): \(report.problems.joined(separator: "; "))",
      path: connection.path,
      advice: "see 'dflat check', and restore an older backup")
  }
}
