// Preparing a database file: settings that depend on each other and on their order.
//
//  - The page size and auto-vacuum can only be chosen while the file is empty.
//  - Turning WAL mode on writes the first page, so they come before it.
//  - What the file has afterwards is read back from the file.

import Platform

/// How a database file that is opened for writing should be.
public struct DatabaseFileSettings: Hashable, Sendable {
  /// Whether and how free pages are given back.
  public enum AutoVacuum: Int64, Hashable, Sendable {
    /// Never; they are used again.
    case none = 0
    /// At every commit.
    case full = 1
    /// When ``Connection/incrementalVacuum(pages:)`` is called.
    case incremental = 2
  }

  /// What a commit waits for.
  public enum Synchronous: Int64, Hashable, Sendable {
    /// For nothing: a power loss may damage the file.
    case off = 0
    /// In WAL mode: a power loss may lose the last commits, and never damages the file.
    case normal = 1
    /// For the disk: a commit survives power loss.
    case full = 2
    /// As full, and for the directory too, where that makes a difference.
    case extra = 3
  }

  /// Bytes in a page of a new file, a power of two from 512 to 65536; nil is SQLite's default.
  public var pageSize: Int?
  /// The auto-vacuum mode of a new file.
  public var autoVacuum: AutoVacuum
  /// What a commit waits for, on this connection.
  public var synchronous: Synchronous

  /// Settings for a file in WAL mode.
  public init(
    pageSize: Int? = nil, autoVacuum: AutoVacuum = .incremental, synchronous: Synchronous = .normal
  ) {
    self.pageSize = pageSize
    self.autoVacuum = autoVacuum
    self.synchronous = synchronous
  }
}

extension Connection {
  /// Whether the file is in WAL mode. It cannot leave it while this connection is open, so the file
  /// is asked once.
  public func isInWALMode() throws(SQLiteError) -> Bool {
    if !hasSeenWALMode { hasSeenWALMode = try pragma("main.journal_mode") == .text("wal") }
    return hasSeenWALMode
  }

  /// Puts the database file into WAL mode, with the given settings, each read back and checked.
  ///
  /// An empty file gets the page size and the auto-vacuum mode first. A file that has something in
  /// it keeps those it has. Automatic checkpoints are off, as on every connection here.
  ///
  /// Call it right after opening for writing, outside a transaction. Several connections may do so
  /// at the same time, also when the file is new.
  ///
  /// - Returns: Whether the file was empty.
  /// - Throws: ``SQLiteError`` with ``ResultCode/pragmaRefused`` if a setting did not take effect.
  @discardableResult
  public func prepareDatabaseFile(
    _ settings: DatabaseFileSettings = DatabaseFileSettings()
  ) throws(SQLiteError) -> Bool {
    let isNew = try pageCount() == 0
    if isNew {
      if let pageSize = settings.pageSize { try execute("PRAGMA main.page_size = \(pageSize)") }
      try execute("PRAGMA main.auto_vacuum = \(settings.autoVacuum.rawValue)")
    }
    try enterWALMode()
    try setPragma("synchronous", .integer(settings.synchronous.rawValue))
    try check("wal_autocheckpoint", is: 0)
    if isNew {
      if let pageSize = settings.pageSize { try check("main.page_size", is: Int64(pageSize)) }
      try check("main.auto_vacuum", is: settings.autoVacuum.rawValue)
    }
    return isNew
  }

  /// It waits for connections that read or write in the old mode, for the busy timeout at most. Of
  /// two connections that both change the mode SQLite refuses one at once, so that they do not wait
  /// for each other; that one tries again.
  private func enterWALMode() throws(SQLiteError) {
    let patience = Duration.milliseconds(busyTimeoutMilliseconds)
    let began = MonotonicTime.now
    while true {
      do throws(SQLiteError) {
        return try setPragma("main.journal_mode", "wal")
      } catch {
        guard error.isBusy, MonotonicTime.now &- began < MonotonicTime.nanoseconds(patience) else {
          throw error
        }
        usleep(.random(in: 500...5000))
      }
    }
  }

  private func check(_ pragma: String, is expected: Int64) throws(SQLiteError) {
    let actual = try self.pragma(pragma)
    if actual != .integer(expected) {
      throw SQLiteError(
        code: .pragmaRefused,
        message: "\(pragma) should be \(expected) and is \(actual.map(\.description) ?? "unknown")",
        path: path)
    }
  }
}
