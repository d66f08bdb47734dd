// FileBackup: copies of the database file.
//
//  - A copy is made of a reader's state. The writer goes on. If the file was read without locks,
//    and a program has begun to use it and has changed its pages, the copy is made again.
//  - It has its name when it is whole. What a killed process has left of another copy with that
//    name is removed.
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
    try FileBackup.finishing(path) { unfinished in
      try withOneState { try FileBackup.copy($0, to: unfinished, for: path, progress) }
      try FileBackup.requireSound(
        unfinished, named: path, "the file is damaged, and so is its copy")
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

  /// Calls `body` with a reader that keeps the state which it has read; again, with another one, if
  /// it throws `PagesHaveChanged`.
  private func withOneState<R>(_ body: (Connection) throws -> R) throws -> R {
    for _ in 0..<5 {
      do { return try readingWhole { try onLease(body) } } catch is FileBackup.PagesHaveChanged {
        continue
      }
    }
    throw changedFile
  }

  private func onLease<R>(_ body: (Connection) throws -> R) throws -> R {
    let lease: ReaderLease
    do {
      try openForReading()
      lease = try readers.checkout(beyondLimit: true)
    } catch let error as SQLiteError where error.isNoSuchFile {
      throw StorageError.missingFile(path)
    }
    defer { lease.end() }
    do {
      return try lease.connection.transaction(.deferred) {
        _ = try lease.connection.schemaVersion()
        return try body(lease.connection)
      }
    } catch {
      // Damage that comes of two states is none.
      if error is SQLiteError || error is StorageError {
        try FileBackup.requireOneState(lease.connection)
      }
      throw error
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
        try FileBackup.finishing(path) {
          try FileBackup.copy(connection, to: $0, for: path)
        }
      }
    }
  }
}

enum FileBackup {
  /// The file was read without locks, and its pages have changed meanwhile: what was copied may be
  /// of several states.
  struct PagesHaveChanged: Error {}

  static func requireOneState(_ connection: Connection) throws {
    if connection.hasChangedPages { throw PagesHaveChanged() }
  }

  /// How many pages are copied between two calls about the progress.
  static let pagesPerStep = 1024

  /// Lets `body` write a file, and gives it its name when it is whole. Nothing stays there if that
  /// fails.
  /// - Throws: `StorageError.cannotOpen` if there is a file, or the log of one; the errors of
  ///   `body`.
  static func finishing(_ path: String, _ body: (_ unfinished: String) throws -> Void) throws {
    try requireNothing(at: path)
    let unfinished = UnfinishedFile(for: path)
    do {
      try body(unfinished.path)
      try requireNothing(at: path)
      if rename(unfinished.path, path) != 0 {
        throw PlainFile.error("it cannot get its name", path)
      }
      FileReplacement.syncName(of: path)
    } catch {
      unfinished.remove()
      throw error
    }
  }

  /// - Parameters:
  ///   - unfinished: Where the copy is made.
  ///   - path: The name that it will have.
  static func copy(
    _ connection: Connection, to unfinished: String, for path: String,
    _ progress: ((Int, Int) -> Void)? = nil
  ) throws {
    do {
      try connection.backup(to: unfinished, pagesPerStep: progress == nil ? nil : pagesPerStep) {
        progress?($0, $1)
        return true
      }
      try requireOneState(connection)
    } catch {
      // Another one may be made in its place.
      remove(unfinished)
      if let error = error as? SQLiteError, error.path == unfinished {
        throw StorageError(opening: path, error, isReadOnly: false)
      }
      throw error
    }
  }

  private static func remove(_ unfinished: String) {
    for suffix in ["", "-journal"] { unlink(unfinished + suffix) }
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
  /// - Parameter name: The path for the error; nil for that of the file.
  static func requireSound(_ path: String, named name: String? = nil, _ problem: String) throws {
    try withStorageErrors {
      let connection = try Connection.openLeavingNoTrace(path: path)
      try requireSound(connection, named: name, problem)
      try connection.close()
    }
  }

  /// The same for the file that a connection reads.
  static func requireSound(
    _ connection: Connection, named name: String? = nil, _ problem: String
  ) throws {
    // What else is found is of no concern for a copy: it is the same in the file itself.
    var report = IntegrityReport()
    try withStorageErrors { try connection.checkIntegrity(limit: 3, into: &report) }
    if report.problems.isEmpty { return }
    throw StorageError(
      .corruptFile, message: "\(problem): \(report.problems.joined(separator: "; "))",
      path: name ?? connection.path,
      advice: "see 'dflat check', and restore an older backup")
  }
}
