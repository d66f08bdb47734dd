// Preparing a database file: settings that depend on each other and on the order.
//
//  - The page size and auto-vacuum can only be chosen while the file is empty.
//  - Turning WAL mode on writes the first page, so they come before it.
//  - The resulting settings are read back from the file.

import Platform

/// How a database file that is opened for writing should be set up.
public struct DatabaseFileSettings: Hashable, Sendable {
  /// Whether and when free pages are returned to the file system.
  public enum AutoVacuum: Int64, Hashable, Sendable {
    /// Never; they are reused.
    case none = 0
    /// At every commit.
    case full = 1
    /// When ``Connection/incrementalVacuum(pages:)`` is called.
    case incremental = 2
  }

  /// How long a commit waits for the disk.
  public enum Synchronous: Int64, Hashable, Sendable {
    /// It does not wait: a power failure may damage the file.
    case off = 0
    /// In WAL mode: a power failure may lose the last commits, but never damages the file.
    case normal = 1
    /// Until the data is on disk: a commit survives a power failure.
    case full = 2
    /// As ``full``, and until the directory is on disk, too, where that makes a difference.
    case extra = 3
  }

  /// Page size of a new file in bytes, a power of two from 512 to 65536; nil is SQLite's default.
  public var pageSize: Int?
  /// The auto-vacuum mode of a new file.
  public var autoVacuum: AutoVacuum
  /// How long a commit on this connection waits for the disk.
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
  /// Whether the file is in WAL mode. It cannot leave this mode while the connection is open, so
  /// the answer is cached.
  public func isInWALMode() throws(SQLiteError) -> Bool {
    if !hasSeenWALMode { hasSeenWALMode = try pragma("main.journal_mode") == .text("wal") }
    return hasSeenWALMode
  }

  /// Switches the database file to WAL mode and applies the given settings; each is read back and
  /// checked.
  ///
  /// An empty file gets the page size and the auto-vacuum mode first. A file with content keeps its
  /// own. Automatic checkpoints are off, as on every connection of this library.
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
    // The first read opens the log.
    _ = try pragma("main.user_version")
    watch?.watchLog()
    if isNew {
      if let pageSize = settings.pageSize { try check("main.page_size", is: Int64(pageSize)) }
      try check("main.auto_vacuum", is: settings.autoVacuum.rawValue)
    }
    return isNew
  }

  /// It waits for connections that read or write in the old mode, at most for the busy timeout. If
  /// two connections change the mode at the same time, SQLite refuses one immediately to prevent a
  /// deadlock; that connection retries.
  ///
  /// While SQLite waits here for the end of a read, no other one can begin. So it waits for a short
  /// time, in which reads that overlap come to their end, and then lets others begin. The longer
  /// all this takes, the longer that time is, but never more than a tenth of it.
  private func enterWALMode() throws(SQLiteError) {
    let timeout = busyTimeoutMilliseconds
    defer { busyTimeoutMilliseconds = timeout }
    let began = MonotonicTime.now
    var elapsed: Int { Int((MonotonicTime.now &- began) / 1_000_000) }
    while true {
      let wait = max(0, min(max(10, elapsed / 10), timeout - elapsed))
      busyTimeoutMilliseconds = wait
      do throws(SQLiteError) {
        return try setPragma("main.journal_mode", "wal")
      } catch {
        guard error.isBusy, elapsed < timeout else { throw error }
      }
      // Longer than SQLite sleeps until it tries again to begin a read.
      usleep(UInt32(wait) * .random(in: 500...1000))
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
