// Opens and closes the writing connection.
//
//  - The file is prepared when the connection is opened: incremental auto-vacuum before WAL mode,
//    each setting read back.
//  - The last connection to a file checkpoints and removes the WAL.

import Dflat
import Platform
import SQLiteAccess

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension WriteSession {
  /// How long to wait for queries, in milliseconds, while no transaction can run. A longer read may
  /// itself be waiting for a transaction.
  private static let patience = 100

  /// Opens the connection, unless it is open.
  func open() throws {
    // The mutex may be held for long, by a thread that waits for another connection's lock.
    if isPrepared.load(ordering: .acquiring) { return }
    if configuration.isReadOnly {
      throw StorageError(
        .readOnly, message: "the workspace is read-only", path: path,
        advice: "create it with isReadOnly set to false, or do not write")
    }
    do {
      try state.withLock { state in
        if state.connection != nil { return }
        try makeDirectory()
        try protectFiles()
        let connection = try openConnection()
        let maintenance = try FileMaintenance(
          walLimit: configuration.walLimit, connection, readers)
        try externalChanges.writerOpened(connection)
        state.phase = .idle(OpenFile(connection: connection, maintenance: maintenance))
        readers.follow(connection)
        reportOtherNames()
        scheduleDueTasks(&state)
        isPrepared.store(true, ordering: .releasing)
      }
    } catch let error as SQLiteError {
      throw StorageError(opening: path, error, isReadOnly: false)
    }
  }

  private func reportOtherNames() {
    var status = stat()
    guard stat(path, &status) == 0, status.st_nlink > 1 else { return }
    reports.reportLater(StorageError.severalNames(Int(status.st_nlink), path))
  }

  private func openConnection() throws -> Connection {
    let connection = try Connection(
      path: path, busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds,
      statementCacheCapacity: configuration.statementCacheCapacity)
    // SQLite silently opens a file read-only if it must not write it.
    if connection.isReadOnly {
      throw SQLiteError(code: .readOnly, message: "the file cannot be written", path: path)
    }
    connection.noteFile(of: path)
    try configuration.apply(to: connection, cacheSize: configuration.writerCacheSize)
    if configuration.keepsUndoInMemory { try connection.setPragma("temp_store", "memory") }
    let synchronous: DatabaseFileSettings.Synchronous =
      if directory != nil { .off } else if configuration.synchronous == .full { .full } else {
        .normal
      }
    try connection.prepareDatabaseFile(DatabaseFileSettings(synchronous: synchronous))
    return connection
  }

  private func makeDirectory() throws {
    guard let directory else { return }
    do { try directory.create() } catch {
      throw StorageError(
        error.isFull ? .diskFull : .cannotOpen, message: error.message, path: directory.path)
    }
  }

  /// Switches a file with a rollback journal to WAL mode, as the first transaction would, if that
  /// is possible at once. Otherwise no transaction could commit while a snapshot is open.
  func enterWALMode(before reader: Connection) {
    if isPrepared.load(ordering: .acquiring) || configuration.isReadOnly || reader.isWithoutLocks {
      return
    }
    do {
      guard try !reader.isInWALMode(), try reader.pageCount() > 0 else { return }
      let writer = try Connection(
        path: path, mode: .readWrite, busyTimeoutMilliseconds: Self.patience)
      try writer.prepareDatabaseFile()
      try writer.close()
    } catch {
      // Another program is using the file, or this one may not write it: the file is read as it is.
    }
  }

  // MARK: Closing

  /// Closes the connection. The readers are closed before.
  func close(_ flags: WorkspaceShutdownFlag) throws {
    externalChanges.close()
    defer { directory?.remove() }
    if configuration.isReadOnly && !flags.isEmpty {
      throw StorageError(
        .readOnly, message: "the workspace is read-only, so its shutdown has no flags",
        path: path, advice: "call shutdown without flags")
    }
    try withStorageErrors {
      try withStateSoon { state in
        guard let connection = try state.connection ?? connectionForFlags(flags) else { return }
        state.phase = .closed
        state.dueTarget?.session.withLock { $0 = nil }
        // An ended transaction may still be in memory; it holds no statements.
        state.tables.forget()
        // The flags would change files that may belong to another database by now.
        let inPlace = Result { try connection.checkFile() }
        let flags = (try? inPlace.get()) == nil ? [] : flags
        if flags.isEmpty { try connection.saveRemovedLog() }
        // One that fails, for lack of space for example, keeps none of the others from being tried.
        let vacuumed = Result {
          if !flags.contains(.vacuum) { return }
          try connection.vacuum()
          try MaintenanceLog.note(MaintenanceLog.vacuum, at: Self.now, connection)
        }
        let truncated = Result {
          if !flags.contains(.truncate) { return }
          try waitForWriters(connection)
          try connection.checkpoint(.truncate, timeoutMilliseconds: Self.patience)
          try leaveWALMode(connection)
        }
        try connection.close()
        try inPlace.get()
        try vacuumed.get()
        try truncated.get()
      }
    }
  }

  /// Flags apply also to a workspace that has written nothing.
  private func connectionForFlags(_ flags: WorkspaceShutdownFlag) throws -> Connection? {
    if flags.isEmpty { return nil }
    do {
      return try Connection(
        path: path, mode: .readWrite,
        busyTimeoutMilliseconds: configuration.busyTimeoutMilliseconds)
    } catch  where error.isNoSuchFile {
      return nil
    }
  }

  /// Waits until no other connection writes, at most for the busy timeout.
  private func waitForWriters(_ connection: Connection) throws(SQLiteError) {
    do {
      try connection.begin(.immediate)
      try connection.rollback()
    } catch  where error.isBusy {}
  }

  /// Leaves a single file behind, unless another connection still uses it: then it stays in WAL
  /// mode.
  private func leaveWALMode(_ connection: Connection) throws(SQLiteError) {
    let timeout = connection.busyTimeoutMilliseconds
    connection.busyTimeoutMilliseconds = 0
    defer { connection.busyTimeoutMilliseconds = timeout }
    do {
      try connection.execute("PRAGMA main.journal_mode = DELETE")
    } catch  where error.isBusy || error.isLocked {}
  }

  private func protectFiles() throws {
    #if os(iOS) || os(watchOS) || os(tvOS)
      let kind: FileProtectionType =
        switch configuration.fileProtectionLevel {
        case .noProtection: .none
        case .completeFileProtection: .complete
        case .completeFileProtectionUnlessOpen: .completeUnlessOpen
        case .completeFileProtectionUntilFirstUserAuthentication:
          .completeUntilFirstUserAuthentication
        }
      for suffix in ["", "-wal", "-shm"]
      where !FileManager.default.fileExists(atPath: path + suffix) {
        FileManager.default.createFile(
          atPath: path + suffix, contents: nil, attributes: [.protectionKey: kind])
      }
    #endif
  }
}
