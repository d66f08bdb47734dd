// Reading a file whose directory is not writable.
//
// To read a file in WAL mode SQLite needs a `-wal` and a `-shm` file beside it. Neither exists
// after the last connection was closed, and SQLite cannot create them in a directory that is not
// writable, so it refuses to read. Such a file is complete, and is read here without locks.
// Invariants:
//
//  - A WAL with content is never ignored: it may have commits that are not in the file yet.
//  - Nor is a rollback journal that a crash left: without it the file is only partly changed. A
//    connection that may write rolls it back first; other connections do not read the file.
//  - Changes to the file are noticed: `isOutdated` compares its state with the one before it was
//    opened. Its pages stay as they are until a program moves a log into it, so that what is read
//    before that, by `hasChangedPages`, is one state.

import Platform

/// Identifies a state of the file without reading its content.
struct FileMark: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  /// Size of the file, in bytes.
  let size: Int64
  private let modified: [Int]
  /// Size of the write-ahead log beside it, in bytes.
  let logSize: Int64
  /// When a log with content was written to: a commit may fit into what was there.
  private let logModified: [Int]

  /// nil if there is no file.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
    size = Int64(status.st_size)
    let times = Self.times(status)
    modified = times.content + times.node
    // SQLite's log is beside the file, and not beside a symbolic link to it.
    let log = (Connection.resolvedPath(path) ?? path) + "-wal"
    logSize = stat(log, &status) == 0 ? Int64(status.st_size) : 0
    // If SQLite opens a log for the superuser, it sets its owner, which changes the inode.
    logModified = logSize > 0 ? Self.times(status).content : []
  }

  /// When the content and the inode of a file were changed.
  private static func times(_ status: stat) -> (content: [Int], node: [Int]) {
    #if canImport(Darwin)
      let (content, node) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (content, node) = (status.st_mtim, status.st_ctim)
    #endif
    return ([Int(content.tv_sec), content.tv_nsec], [Int(node.tv_sec), node.tv_nsec])
  }
}

extension FileMark {
  /// Whether the file is the same one, and was not written to.
  func hasSamePages(as other: FileMark) -> Bool {
    device == other.device && inode == other.inode && size == other.size
      && modified == other.modified
  }
}

extension Connection {
  /// A file whose log has content is at least one page long. If it was cut to nothing, the log has
  /// all that is left, and SQLite would remove it.
  static func requireNoLogOfEmptyFile(_ path: String) throws(SQLiteError) {
    // Another process may create the file meanwhile.
    guard let mark = FileMark(path: path), mark.size == 0, mark.logSize > 32,
      FileMark(path: path)?.size == 0
    else { return }
    throw SQLiteError(
      code: .corrupt,
      message: "the file is empty, and its log beside it has \(mark.logSize) bytes: it was cut off",
      path: path)
  }

  /// Opens an existing file for reading, even if SQLite cannot write beside it.
  ///
  /// It works like ``OpenMode/readOnly``, except that a file in WAL mode without a log, in a
  /// directory or on a volume that is not writable, is read without locks. Then ``isWithoutLocks``
  /// is true, and ``isOutdated`` shows whether the file has changed since.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - mayRepair: Whether to roll back a rollback journal that a crash left, which writes to the
  ///     file.
  ///   - busyTimeoutMilliseconds: See ``busyTimeoutMilliseconds``.
  ///   - statementCacheCapacity: How many idle statements are kept.
  /// - Throws: ``SQLiteError``: ``SQLiteError/isNoSuchFile``; ``ResultCode/readOnly`` if there is a
  ///   log beside the file that cannot be read without writing, or a journal that cannot or may not
  ///   be rolled back; or the error of reading the first page.
  public static func openForReading(
    path: String, mayRepair: Bool = true, busyTimeoutMilliseconds: Int = 30_000,
    statementCacheCapacity: Int = 100
  ) throws(SQLiteError) -> Connection {
    try openForReading(
      path: path, mayRepair: mayRepair, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity, expecting: nil)
  }

  /// - Parameter files: The files that must be there; nil for whatever there is.
  static func openForReading(
    path: String, mayRepair: Bool, busyTimeoutMilliseconds: Int, statementCacheCapacity: Int,
    expecting files: OpenFiles?
  ) throws(SQLiteError) -> Connection {
    let connection = try Connection(
      path: path, mode: .readOnly, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity, expecting: files)
    do {
      try connection.execute("PRAGMA main.schema_version")
      return connection
    } catch  where error.needsRollback {
      if !mayRepair {
        throw SQLiteError(
          code: .readOnly,
          message: """
            a crash has left the file half changed, and a journal beside it that undoes the change: open the file once with a \
            connection or workspace that may write
            """,
          path: path)
      }
      let writer = try Connection(
        path: path, mode: .readWrite, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
      try writer.execute("PRAGMA main.schema_version")
      try writer.close()
      try connection.execute("PRAGMA main.schema_version")
      return connection
    } catch  where error.isReadOnly || error.isCantOpen && !error.isOutOfDescriptors {
      // Read before the file is opened, so that every later change is noticed.
      guard let mark = FileMark(path: path) else { throw error }
      if mark.logSize > 0 {
        throw SQLiteError(
          code: .readOnly,
          message: """
            there is a log of \(mark.logSize) bytes beside the file, which SQLite can only read in a writable directory: \
            copy the file and its -wal file to one
            """,
          path: path)
      }
      let frozen = try Connection(
        path: path, mode: .immutable, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
        statementCacheCapacity: statementCacheCapacity)
      frozen.frozenFile = mark
      return frozen
    }
  }

  /// Whether the file is read without locks; see
  /// ``openForReading(path:mayRepair:busyTimeoutMilliseconds:statementCacheCapacity:)``.
  public var isWithoutLocks: Bool { frozenFile != nil }

  /// Whether the file is read without locks and has changed since it was opened. Results may then
  /// be wrong.
  public var isOutdated: Bool {
    guard let frozenFile else { return false }
    return FileMark(path: path) != frozenFile
  }

  /// Whether the file is read without locks and its pages have changed since it was opened: what
  /// was read may be of several states. A new log changes no pages.
  package var hasChangedPages: Bool {
    guard let frozenFile else { return false }
    return FileMark(path: path)?.hasSamePages(as: frozenFile) != true
  }
}
