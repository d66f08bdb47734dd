// A connection to a database: opening, closing, and its properties.
//
// Invariants:
//
//  - A connection is used by one thread at a time. It is opened without SQLite's own mutex, and it
//    is not `Sendable`, so the compiler enforces this. It may move from thread to thread.
//  - Automatic checkpoints are off. SQLite runs them in a mode that takes no write lock, and up to
//    version 3.51.2 such a checkpoint can lose the commit of another connection.
//  - Extended result codes are on.
//  - The handle outlives every statement: statements retain the connection.

public import CSQLite
import Platform

/// A connection to an SQLite database.
///
///     let connection = try Connection(path: "notes.db")
///     try connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
///     try connection.execute("INSERT INTO note (text) VALUES (?)", ["Buy bread"])
///     let texts = try connection.rows("SELECT text FROM note").map { $0[0] }
///
/// ## Threads
///
/// A connection, its statements and everything else it returns are used by one thread at a time.
/// The connection may be passed from one thread to another once the first has finished with it;
/// SQLite's own locks do not protect against concurrent use. Only an ``Interrupter`` may be used by
/// other threads. To read from many threads use a ``ReaderPool``.
///
/// The library changes no process-wide setting of SQLite. A program that reads and writes on
/// several threads can do so when it starts, with ``SQLiteProcess/configureForThreads()``.
///
/// ## Checkpoints
///
/// Unlike SQLite's default, a connection does not checkpoint the write-ahead log after a commit.
/// Call ``checkpoint(_:timeoutMilliseconds:)`` on the writing connection.
/// ``walPagesAfterLastCommit`` shows at no cost when a checkpoint is due.
public final class Connection {
  /// How a database file is opened.
  public enum OpenMode: Hashable, Sendable {
    /// For reading and writing; the file is created if it does not exist.
    case readWriteCreate
    /// For reading and writing; the file must exist.
    case readWrite
    /// For reading; the file must exist.
    ///
    /// A file in WAL mode needs its `-wal` and `-shm` files beside it, or a directory where SQLite
    /// may create them. On a read-only volume, for example, use ``immutable``.
    case readOnly
    /// For reading a file that does not change, such as one on a read-only volume.
    ///
    /// It takes no lock, needs no `-shm` file, and ignores a `-wal` file. If the file changes
    /// nevertheless, results are wrong.
    case immutable
  }

  // Used by one thread at a time and never re-entrantly, so exclusivity checks would find nothing.
  @exclusivity(unchecked) @usableFromInline var database: OpaquePointer?
  /// The file's path as given, or the name of an in-memory database.
  public let path: String
  /// How the file was opened.
  public let mode: OpenMode

  /// Whether a ``ReaderPool`` may hand the connection out again. Set it to false if SQLite may have
  /// kept something of a damaged table.
  @exclusivity(unchecked) public var isReusable = true

  @exclusivity(unchecked) var statements: StatementCache
  var keptStatements = [OpaquePointer?](repeating: nil, count: PermanentStatement.allCases.count)
  /// What another library of this package keeps with the connection.
  package var companion: AnyObject?
  /// How many calls of `transaction` and `withSavepoint` are under way, one in another.
  @exclusivity(unchecked) @usableFromInline var transactionDepth = 0
  let wal: WALCounter
  let interruption: Interrupter
  /// When statements are interrupted; see `interrupting(every:when:_:)`.
  var progressQuestion: ProgressQuestion?
  var traceBox: TraceBox?
  var rowChanges: RowChangeHandler?
  /// Whether the file is still the one at its path; nil if that cannot be found out.
  private(set) var watch: FileWatch?
  /// The state of the file when it was opened without locks; see `openForReading`.
  var frozenFile: FileMark?
  /// Whether the file was found to be in WAL mode; see `isInWALMode`.
  var hasSeenWALMode = false

  /// How long a statement waits for a lock that another connection holds, in milliseconds.
  ///
  /// After that it fails with ``ResultCode/busy``. With 0 it fails at once. A transaction that has
  /// read and then wants to write does not wait if another connection wrote in between: it has to
  /// start again (``SQLiteError/isBusySnapshot``).
  public var busyTimeoutMilliseconds: Int {
    didSet { applyBusyTimeout() }
  }

  /// Opens a database file.
  ///
  /// - Parameters:
  ///   - path: The file. Every character is literal, including `?`, `#`, `%` and a leading `file:`.
  ///   - mode: For reading or for writing, and whether a missing file is created.
  ///   - busyTimeoutMilliseconds: See ``busyTimeoutMilliseconds``.
  ///   - statementCacheCapacity: How many idle statements are kept; see ``statement(_:)``.
  /// - Throws: ``SQLiteError``; ``SQLiteError/isNoSuchFile`` is true for a missing file;
  ///   ``ResultCode/corrupt`` for an empty file beside a log with content, which SQLite would
  ///   remove. Whether the file is a database shows with the first statement, because opening reads
  ///   nothing.
  public convenience init(
    path: String, mode: OpenMode = .readWriteCreate, busyTimeoutMilliseconds: Int = 30_000,
    statementCacheCapacity: Int = 100
  ) throws(SQLiteError) {
    try self.init(
      path: path, mode: mode, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity, expecting: nil)
  }

  /// - Parameter files: What another connection has open, which must be what is at the path; nil if
  ///   there is none.
  convenience init(
    path: String, mode: OpenMode, busyTimeoutMilliseconds: Int, statementCacheCapacity: Int,
    expecting files: OpenFiles?
  ) throws(SQLiteError) {
    if path.isEmpty || path.utf8.contains(0) {
      throw SQLiteError(
        code: .cantOpen, message: "a path must not be empty nor contain NUL", path: path)
    }
    if files == nil { try Self.requireNoLogOfEmptyFile(path) }
    try self.init(
      fileName: mode == .immutable ? Self.uri(path: path, query: "immutable=1") : Self.plain(path),
      path: path, mode: mode, flags: mode == .immutable ? SQLITE_OPEN_URI : 0,
      busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity)
    try expect(files)
  }

  /// Opens an in-memory database.
  ///
  /// It is deleted when its last connection closes.
  ///
  /// - Parameters:
  ///   - sharedName: Connections of this process with the same name share a database, in SQLite's
  ///     shared-cache mode. There they lock single tables against each other
  ///     (``SQLiteError/isLocked``, without waiting). If nil, the database is private to this
  ///     connection.
  ///   - busyTimeoutMilliseconds: See ``busyTimeoutMilliseconds``.
  ///   - statementCacheCapacity: How many idle statements are kept; see ``statement(_:)``.
  public convenience init(
    inMemory sharedName: String?, busyTimeoutMilliseconds: Int = 30_000,
    statementCacheCapacity: Int = 100
  ) throws(SQLiteError) {
    let fileName =
      sharedName.map { "file:" + Self.percentEncoded($0) + "?mode=memory&cache=shared" }
      ?? ":memory:"
    try self.init(
      fileName: fileName, path: sharedName ?? ":memory:", mode: .readWriteCreate,
      flags: SQLITE_OPEN_URI, busyTimeoutMilliseconds: busyTimeoutMilliseconds,
      statementCacheCapacity: statementCacheCapacity)
  }

  /// Opens a file in WAL mode for reading without locks, with what is in its log.
  convenience init(
    withoutLocks path: String, statementCacheCapacity: Int
  ) throws(SQLiteError) {
    try self.init(
      fileName: Self.plain(path), path: path, mode: .readOnly, flags: 0, busyTimeoutMilliseconds: 0,
      statementCacheCapacity: statementCacheCapacity, isWatched: false)
    UnlockedFile.makeUnlocked(fileOf: openDatabase)
    checkpointsOnClose = false
    // The index of the log is in memory then.
    try execute("PRAGMA main.locking_mode = EXCLUSIVE")
  }

  /// Opens the one file of a file system that was registered under a name.
  convenience init(onlyFileOf fileSystem: String) throws(SQLiteError) {
    try self.init(
      fileName: "file:pages?vfs=\(fileSystem)", path: fileSystem, mode: .readWriteCreate,
      flags: SQLITE_OPEN_URI, busyTimeoutMilliseconds: 0, statementCacheCapacity: 0,
      isWatched: false)
  }

  private init(
    fileName: String, path: String, mode: OpenMode, flags: Int32, busyTimeoutMilliseconds: Int,
    statementCacheCapacity: Int, isWatched: Bool = true
  ) throws(SQLiteError) {
    guard sqlite3_threadsafe() != 0 else {
      throw SQLiteError(
        code: .misuse, message: "this SQLite library was built for a single thread", path: path)
    }
    let access =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly, .immutable: SQLITE_OPEN_READONLY
      }
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(
      fileName, &opened, access | flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard result == SQLITE_OK, let opened else {
      // A connection that failed to open must be closed, too, after its error was read.
      var error = SQLiteError(result: result, database: opened, path: path)
      if let opened { error.systemErrorNumber = sqlite3_system_errno(opened) }
      sqlite3_close_v2(opened)
      throw error
    }
    self.database = opened
    self.path = path
    self.mode = mode
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    self.statements = StatementCache(capacity: statementCacheCapacity)
    self.interruption = Interrupter(opened)
    self.wal = WALCounter()
    applyBusyTimeout()
    // An unknown identifier in double quotes is an error; SQLite's default is to read it as a
    // string.
    for setting in [SQLITE_DBCONFIG_DQS_DML, SQLITE_DBCONFIG_DQS_DDL] {
      let result = csqlite_db_config_boolean(opened, setting, 0, nil)
      if result != SQLITE_OK {
        throw SQLiteError(result: result, database: opened, path: path)
      }
    }
    // Automatic checkpoints are a WAL hook, too, so installing this one turns them off.
    wal.install(on: opened)
    if mode != .immutable, isWatched { watch = FileWatch(opened, path: path) }
    if mode == .readWrite || mode == .readWriteCreate { watch?.install(on: opened) }
  }

  deinit {
    // No statement is in use, because statements retain the connection.
    if let database { finish(database) }
  }

  private func applyBusyTimeout() {
    guard let database else { return }
    sqlite3_busy_timeout(database, Int32(clamping: busyTimeoutMilliseconds))
  }

  // MARK: Closing

  /// Closes the connection. A second call does nothing.
  ///
  /// An open transaction is rolled back. Without this call the connection closes when it is
  /// released.
  ///
  /// - Throws: ``SQLiteError`` with ``ResultCode/busy`` if statements are still in use; the
  ///   connection then stays open.
  public func close() throws(SQLiteError) {
    guard let database else { return }
    if statements.hasStatementsInUse {
      throw SQLiteError(
        code: .busy,
        message: "\(statements.statistics.inUse) statements are still held; let go of them first",
        path: path)
    }
    self.database = nil
    finish(database)
  }

  /// Whether the connection was closed with ``close()``.
  public var isClosed: Bool { database == nil }

  private func finish(_ database: OpaquePointer) {
    interruption.disconnect()
    // The log at the path may belong to another file by now.
    if isReplaced {
      csqlite_db_config_boolean(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nil)
    }
    sqlite3_commit_hook(database, nil, nil)
    watch = nil
    for kept in keptStatements { sqlite3_finalize(kept) }
    keptStatements = keptStatements.map { _ in nil }
    statements.clear()
    // This form waits for statements that escaped our control, instead of leaking the connection.
    sqlite3_close_v2(database)
  }

  /// The handle for calls that report errors.
  func open() throws(SQLiteError) -> OpaquePointer {
    guard let database else {
      throw SQLiteError(code: .closed, message: "the connection is closed", path: path)
    }
    return database
  }

  /// The handle for calls that cannot fail.
  @inlinable
  var openDatabase: OpaquePointer {
    guard let database else {
      preconditionFailure("a Connection was asked about its database after close()")
    }
    return database
  }

  // MARK: Facts

  /// The row id of the last row that this connection inserted; 0 if there is none.
  @inlinable
  public var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(openDatabase) }

  /// How many rows the last `INSERT`, `UPDATE` or `DELETE` changed, excluding triggers.
  @inlinable
  public var changes: Int { Int(sqlite3_changes64(openDatabase)) }

  /// How many rows were changed since the connection was opened, including triggers.
  @inlinable
  public var totalChanges: Int { Int(sqlite3_total_changes64(openDatabase)) }

  /// Whether a transaction is open.
  @inlinable
  public var isInTransaction: Bool { sqlite3_get_autocommit(openDatabase) == 0 }

  /// Whether the database cannot be written through this connection.
  public var isReadOnly: Bool { sqlite3_db_readonly(openDatabase, "main") == 1 }

  /// The version of the SQLite library in use, such as `3.40.1`.
  public static var libraryVersion: String { String(cString: sqlite3_libversion()) }

  /// Calls `body` with SQLite's own handle, for features that this library does not offer.
  ///
  /// The handle is valid during the call. Do not close it, and do not replace its busy handler, its
  /// write-ahead log hook or its commit hook.
  public func withHandle<R, E: Error>(_ body: (OpaquePointer) throws(E) -> R) throws(E) -> R {
    try body(openDatabase)
  }
}
