// The settings of a workspace as one value, and the events that it reports.

import Dflat
public import Dispatch
import SQLiteAccess

extension SQLiteWorkspace {
  /// The settings of a workspace.
  ///
  ///     var configuration = SQLiteWorkspace.Configuration()
  ///     configuration.synchronous = .full
  ///     configuration.onError = { print("storage:", $0) }
  ///     let dflat = SQLiteWorkspace(filePath: path, configuration: configuration)
  ///
  /// An impossible value, such as a limit of no readers, is a programmer error when the workspace
  /// is created.
  public struct Configuration: Sendable {
    /// What a commit survives. It has no effect on an in-memory workspace.
    public var synchronous = Synchronous.normal
    /// Whether transactions of different types may run at the same time.
    public var writeConcurrency = WriteConcurrency.concurrent
    /// Where change handlers and completion handlers run. If nil, the workspace creates a queue of
    /// its own.
    public var targetQueue: DispatchQueue?
    /// The class in which the files are created, where the system has such classes.
    public var fileProtectionLevel = FileProtectionLevel.noProtection

    /// Whether the workspace only reads the file, which must exist.
    ///
    /// Transactions are refused: their handlers do not run, they complete with false, and the error
    /// hook receives `StorageError.Cause.readOnly`. Reading works also where nothing can be
    /// written: on a read-only volume, in a directory without write permission, from an immutable
    /// file.
    public var isReadOnly = false

    /// Whether each row is written with a checksum, the CRC-32C of its bytes.
    ///
    /// The pages of SQLite have none: a disk or a cable that changes a bit of a number changes the
    /// number. A row with a checksum is read as it was written, or reported as
    /// `StorageError.Cause.corruptRow` and left out.
    ///
    /// The setting is about writing, and may be changed at any time. An object gets its checksum,
    /// or loses it, when it is next written; 5 bytes more are stored for it. A checksum that is
    /// there is verified in any case, before anything of the row is used: by fetches, by scans that
    /// evaluate a condition, by counts and values that look at rows, and when an index is built.
    /// What an index or the key answers alone reads no row, and verifies none.
    ///
    /// Programs that do not know checksums, such as `flatc`, upstream Dflat and version 0.1 of this
    /// library, read the objects as before. The rows that they write have no checksum. But version
    /// 0.1 changes numbers in place and keeps what follows the object: do not let it write to a
    /// file with checksums.
    public var rowChecksums = false

    /// How long a transaction waits for a lock that another program or workspace holds. After that
    /// it fails with `StorageError.Cause.busy`.
    public var busyTimeout = Duration.seconds(30)
    /// The writing connection's page cache in bytes; nil is SQLite's default, 2 MB.
    public var writerCacheSize: Int?
    /// Each reader's page cache in bytes; nil is SQLite's default, 2 MB.
    public var readerCacheSize: Int?
    /// How many prepared statements each connection caches.
    public var statementCacheCapacity = 100
    /// How many readers may be open at the same time; when all are in use a fetch waits for one.
    /// nil is two per processor, at least four. During fetches in quick succession, two more
    /// connections are open, which pin a state between the fetches.
    public var readerLimit: Int?
    /// How long a reader may be idle before it is closed.
    public var readerIdleLifetime = Duration.seconds(30)

    /// Size in bytes at which the write-ahead log (WAL) is checkpointed.
    ///
    /// A single transaction may write more, and the WAL also grows while a reader uses an old
    /// state. Once there is no such reader, a WAL file of more than twice the limit is truncated.
    public var walLimit = 4 << 20
    /// How long the workspace must be idle before free pages are returned to the file system, step
    /// by step.
    public var idleDelay = Duration.seconds(1)
    /// When the whole file is rewritten without free pages.
    ///
    ///     configuration.vacuum = .every(.days(7))
    ///
    /// The time of the last vacuum is kept in the file, and first noted when a workspace with such
    /// a policy writes to it. It is looked at when the file is opened for writing, and from time to
    /// time while it is open. The vacuum then runs when nothing has been written for
    /// ``idleDelay``. A transaction interrupts it; it is tried again later.
    public var vacuum = VacuumPolicy.onRequest
    /// When the statistics are renewed by which SQLite chooses among indexes.
    ///
    ///     configuration.analysis = .every(.days(7))
    ///
    /// It runs as the vacuum of a policy does, with a time of its own in the file. It looks at some
    /// hundred rows of each index, and makes or fills SQLite's table `sqlite_stat1`. A vacuum
    /// renews the statistics, too.
    public var analysis = AnalysisPolicy.onRequest

    /// When backups are made without being asked for, and where.
    ///
    ///     configuration.backups = .every(.hours(24), keep: 3, in: "/backups/notes")
    ///
    /// A backup is made if the newest one in the folder is that old, beginning when the workspace
    /// first writes, or was opened by ``SQLiteWorkspace/open(_:configuration:)``: so also after a
    /// crash, and whichever process has made the last one. It waits until nothing has been written
    /// for ``idleDelay``, at most for an hour; transactions and queries go on meanwhile. What fails
    /// is reported to ``onError`` and tried again after an hour. See
    /// ``SQLiteWorkspace/backup(into:keep:progress:)``. It has no effect on an in-memory workspace
    /// and on one that only reads.
    public var backups = BackupPolicy.onRequest

    /// Decides what is done if the file turns out to be damaged when the workspace opens it. If
    /// nil, opening fails with an error that says what there is.
    ///
    ///     configuration.onDamagedFile = { file in
    ///       guard file.newestGoodBackup != nil else { return .fail }
    ///       try file.restoreNewestBackup()
    ///       return .tryAgain
    ///     }
    ///
    /// The file is opened by ``SQLiteWorkspace/open(_:configuration:)``, or by the first
    /// transaction or query. The function runs on that thread, and other uses of the workspace wait
    /// for it: it must not use the workspace. It is asked again, up to ten times, if the file is
    /// still damaged after ``DamagedFile/Decision/tryAgain``. After ``DamagedFile/Decision/fail``
    /// this workspace does not ask any more. If the function throws, opening fails with an error
    /// that contains the reason, and the next use asks again.
    ///
    /// Damage in a place that opening does not read is found later, as
    /// `StorageError.Cause.corruptFile`. Then nothing is asked: shut the workspace down and make a
    /// ``DamagedFile``. It has no effect on an in-memory workspace.
    public var onDamagedFile: (@Sendable (DamagedFile) throws -> DamagedFile.Decision)?
    /// Called on any thread with every error that cannot be thrown to a caller.
    ///
    /// The errors are `StorageError`s, `DictionaryError`s and `MigrationError`s,
    /// `WorkspaceError.shutDown` for fetches after the shutdown, and in debug builds
    /// `UnsubmittedRequest`s. All are `LocalizedError`s: they say what is wrong, where, and what to
    /// do.
    public var onError: (@Sendable (any Error) -> Void)?
    /// Called with each maintenance event of the file, and with each statement if
    /// ``tracesStatements`` is true.
    ///
    /// For a statement it runs on the thread that executes it, which waits; for all other events on
    /// a queue of its own. It must not use the workspace.
    public var onEvent: (@Sendable (Event) -> Void)?
    /// Whether ``onEvent`` receives each statement. This slows down every statement.
    public var tracesStatements = false

    /// Whether the writing connection keeps in memory, and not in a temporary file, what it needs
    /// to undo a part of a transaction. For transactions that change many objects with unique
    /// values: SQLite writes a dozen pages for each of them otherwise.
    package var keepsUndoInMemory = false

    /// Whether reading leaves no trace beside the file, for tools; see
    /// `Connection.openLeavingNoTrace`. It is only for workspaces that are read-only.
    package var leavesNoTrace = false

    /// The default settings, which suit most programs.
    public init() {}

    func check() {
      require(
        readerLimit.map { $0 > 0 } ?? true,
        "SQLiteWorkspace: a readerLimit of \(readerLimit ?? 0) does not allow any reader")
      require(walLimit > 0, "SQLiteWorkspace: a walLimit of \(walLimit) bytes leaves no log")
      require(
        statementCacheCapacity >= 0,
        "SQLiteWorkspace: a statementCacheCapacity of \(statementCacheCapacity) is negative")
      require(
        busyTimeout >= .zero && readerIdleLifetime >= .zero && idleDelay >= .zero,
        "SQLiteWorkspace: busyTimeout, readerIdleLifetime and idleDelay must not be negative")
      if case .every(let interval) = vacuum {
        require(
          interval.seconds > 0, "SQLiteWorkspace: the interval between vacuums must be positive")
      }
      if case .every(let interval) = analysis {
        require(
          interval.seconds > 0, "SQLiteWorkspace: the interval between analyses must be positive")
      }
      if case .every(let interval, let keep, let folder) = backups {
        require(
          interval.seconds > 0 && keep > 0 && !folder.isEmpty,
          "SQLiteWorkspace: backups need a positive interval, a positive number to keep, and the "
            + "path of a folder")
      }
      require(
        (writerCacheSize ?? 0) >= 0 && (readerCacheSize ?? 0) >= 0,
        "SQLiteWorkspace: writerCacheSize and readerCacheSize must not be negative")
    }
  }

  /// Something that a workspace has done for its file, or has noticed.
  public enum Event: Sendable, Equatable {
    /// A statement has ended. `sql` is its text, with `?` for the values; `duration` is the time
    /// from its first step to its end, including the time that the caller spent on the rows.
    case statement(sql: String, duration: Duration)
    /// The write-ahead log was checkpointed: this many pages, in this time.
    case checkpoint(pages: Int, duration: Duration)
    /// A reader has used an old state for so long that the write-ahead log, whose size is now
    /// `walBytes`, cannot restart.
    ///
    /// If `isOwn` is true, it is a reader of this workspace, and `age` is that of its oldest
    /// snapshot. Otherwise it is another program or workspace, and `age` is the time since the
    /// checkpoint first failed. The event is repeated while the condition lasts.
    case stuckReader(age: Duration, isOwn: Bool, walBytes: Int64)
    /// Free pages were returned to the file system: this many in this step, and this many remain.
    case vacuum(pages: Int, remaining: Int)
    /// A vacuum of the whole file begins; the file has this size.
    case vacuumBegan(bytes: Int64)
    /// A vacuum of the whole file has ended; the file has this size now. If it is not complete, the
    /// file is as before: a transaction has interrupted it, or it has failed.
    case vacuumEnded(bytes: Int64, duration: Duration, isComplete: Bool)
    /// The planner's statistics were renewed, in this time.
    case analysis(duration: Duration)
    /// A backup that ``Configuration/backups`` asks for was made: its file, the size of that in
    /// bytes, and the time that it took.
    case backup(path: String, bytes: Int, duration: Duration)
    /// A step of building the indexes of the objects in `table` has filled this many rows; up to
    /// `remaining` objects are left.
    case indexBuild(table: String, filled: Int, remaining: Int)
    /// A migration step has migrated this many objects to the type in `table`; up to `remaining`
    /// are left.
    case migration(table: String, migrated: Int, remaining: Int)
  }
}

extension SQLiteWorkspace.Configuration {
  var busyTimeoutMilliseconds: Int {
    let (seconds, attoseconds) = busyTimeout.components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    return isTooLong ? .max : Int(clamping: product) + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// Applies the settings that every connection gets.
  func apply(to connection: Connection, cacheSize: Int?) throws(SQLiteError) {
    try connection.requireUTF8()
    if tracesStatements, let onEvent {
      try connection.trace(expandingValues: false) { sql, nanoseconds in
        onEvent(.statement(sql: sql, duration: .nanoseconds(nanoseconds)))
      }
    }
    // A negative number is a size in KiB.
    if let cacheSize {
      try connection.setPragma("main.cache_size", .integer(-Int64(max(1, cacheSize / 1024))))
    }
  }
}

extension Connection {
  /// Notes which file the engine of a path has open: another one has other row ids.
  func noteFile(of path: String) {
    if let openFile { SharedStorages.opened(openFile.number, name: path) }
  }

  /// Refuses a file whose texts are stored as UTF-16: SQLite orders them by other bytes, and stores
  /// other characters for some that no encoding should have.
  fileprivate func requireUTF8() throws(SQLiteError) {
    guard let encoding = try pragma("encoding")?.text, encoding != "UTF-8" else { return }
    throw SQLiteError(
      code: .format,
      message: "its texts are stored as \(encoding), and only those in UTF-8 can be compared",
      path: path)
  }
}
