// The settings of a workspace as one value, and what it tells while it works.

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
  /// A value that makes no sense, such as a limit of no readers, is a programmer error when the workspace is made.
  public struct Configuration: Sendable {
    /// What a commit survives. Without meaning for a workspace in memory.
    public var synchronous = Synchronous.normal
    /// Whether transactions of different types may run at the same time.
    public var writeConcurrency = WriteConcurrency.concurrent
    /// Where changes handlers and completion handlers run. With nil the workspace makes a queue of its own.
    public var targetQueue: DispatchQueue?
    /// The class in which the files are created, where the system has such classes.
    public var fileProtectionLevel = FileProtectionLevel.noProtection

    /// Whether the file is only read. It must exist then.
    ///
    /// Transactions are refused: their handlers do not run, they complete with false, and the error hook hears of
    /// `StorageError.Cause.readOnly`. Reading works also where nothing can be written: on a read-only volume, in a
    /// directory without write permission, from an immutable file.
    public var isReadOnly = false

    /// How long a transaction waits for a lock that another program or workspace holds. When it is over the transaction
    /// fails with `StorageError.Cause.busy`.
    public var busyTimeout = Duration.seconds(30)
    /// Bytes of the file that the writing connection keeps in memory; nil is SQLite's default, 2 MB.
    public var writerCacheSize: Int?
    /// Bytes of the file that each reader keeps in memory; nil is SQLite's default, 2 MB.
    public var readerCacheSize: Int?
    /// How many prepared statements each connection keeps ready.
    public var statementCacheCapacity = 100
    /// How many readers may be open at the same time; when all are in use a fetch waits for one. nil is two for each
    /// processor, at least four. While fetches follow each other closely two more connections are open, which keep a state between them.
    public var readerLimit: Int?
    /// How long a reader may be idle before it is closed.
    public var readerIdleLifetime = Duration.seconds(30)

    /// Bytes in the write-ahead log at which they are moved into the file.
    ///
    /// One transaction may write more, and while somebody reads an old state the log goes on growing. Once nobody does, a log
    /// file that has grown to more than twice the limit is emptied.
    public var walLimit = 4 << 20
    /// How long nothing must have been written before free pages are given back to the file system, step by step.
    public var idleDelay = Duration.seconds(1)

    /// Told about every error that has no other way out, on any thread.
    ///
    /// The errors are `StorageError`s, `DictionaryError`s and `MigrationError`s, `WorkspaceError.shutDown` for fetches after the
    /// shutdown, and in debug builds `UnsubmittedRequest`s. All are `LocalizedError`s: they say what is wrong, where, and what to do.
    public var onError: (@Sendable (any Error) -> Void)?
    /// Told what the workspace does for its file, and what it runs if ``tracesStatements`` is true.
    ///
    /// Statements are told on the thread that runs them, which waits for it; all else on a queue of its own. It must not use the
    /// workspace.
    public var onEvent: (@Sendable (Event) -> Void)?
    /// Whether ``onEvent`` hears of each statement. That costs time with each.
    public var tracesStatements = false

    /// The settings that a workspace has without any: they suit most programs.
    public init() {}

    func check() {
      require(
        readerLimit.map { $0 > 0 } ?? true,
        "SQLiteWorkspace: a readerLimit of \(readerLimit ?? 0) would let nobody read")
      require(walLimit > 0, "SQLiteWorkspace: a walLimit of \(walLimit) bytes leaves no log")
      require(
        statementCacheCapacity >= 0,
        "SQLiteWorkspace: a statementCacheCapacity of \(statementCacheCapacity) is negative")
      require(
        busyTimeout >= .zero && readerIdleLifetime >= .zero && idleDelay >= .zero,
        "SQLiteWorkspace: busyTimeout, readerIdleLifetime and idleDelay must not be negative")
      require(
        (writerCacheSize ?? 0) >= 0 && (readerCacheSize ?? 0) >= 0,
        "SQLiteWorkspace: writerCacheSize and readerCacheSize must not be negative")
    }
  }

  /// Something that a workspace has done for its file, or has noticed.
  public enum Event: Sendable, Equatable {
    /// A statement has ended. `sql` is its text, with `?` for the values; `duration` is the time from its first step to its
    /// end, in which rows were looked at, too.
    case statement(sql: String, duration: Duration)
    /// The write-ahead log was moved into the file: so many pages, in that time.
    case checkpoint(pages: Int, duration: Duration)
    /// Somebody reads an old state for so long that the log, which has `walBytes` by now, cannot begin anew.
    ///
    /// With `isOwn` it is a reader of this workspace, and `age` is that of its oldest snapshot. Otherwise it is another program or
    /// workspace, and `age` is the time since when the log could not be moved. It is told again while that lasts.
    case stuckReader(age: Duration, isOwn: Bool, walBytes: Int64)
    /// Free pages were given back: so many in this step, and so many are left.
    case vacuum(pages: Int, remaining: Int)
    /// A step of building the indexes of the objects in `table` has filled so many rows; up to `remaining` objects are left.
    case indexBuild(table: String, filled: Int, remaining: Int)
    /// A step of a migration has migrated so many objects to the type in `table`; up to `remaining` are left.
    case migration(table: String, migrated: Int, remaining: Int)
  }
}

extension SQLiteWorkspace.Configuration {
  var busyTimeoutMilliseconds: Int {
    let (seconds, attoseconds) = busyTimeout.components
    let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1000)
    return isTooLong ? .max : Int(clamping: product) + Int(attoseconds / 1_000_000_000_000_000)
  }

  /// What every connection gets.
  func apply(to connection: Connection, cacheSize: Int?) throws(SQLiteError) {
    if tracesStatements, let onEvent {
      try connection.trace(expandingValues: false) { sql, nanoseconds in
        onEvent(.statement(sql: sql, duration: .nanoseconds(nanoseconds)))
      }
    }
    // A negative number counts in KiB.
    if let cacheSize {
      try connection.setPragma("main.cache_size", .integer(-Int64(max(1, cacheSize / 1024))))
    }
  }
}
