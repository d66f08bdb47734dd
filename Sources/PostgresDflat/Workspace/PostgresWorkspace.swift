// PostgresWorkspace: a workspace that stores its objects in a PostgreSQL database.

@_exported public import Dflat
public import Dispatch

/// A workspace that stores its objects on a PostgreSQL server, for programs that outgrow one file.
///
///     let dflat = PostgresWorkspace("postgresql:///app?host=/run/postgresql")
///     try await dflat.write(Post.self) { try $0.insert(Post(title: "first")) }
///
/// It supports everything that a workspace does. Any number of workspaces, in any number of
/// processes on any machines, may use one database at the same time. Every transaction is
/// serializable among all of them: if another one has changed what it has read, its closure runs
/// again. A closure may therefore run more than once, and should have no effects but its changes.
public final class PostgresWorkspace: Workspace {
  /// Whether transactions of different types may run at the same time.
  public enum WriteConcurrency: Sendable {
    /// They may run at the same time.
    case concurrent
    /// They run one after another.
    case serial
  }

  /// For Dflat: what the workspaces of all engines share; the calls of `Workspace` go to its core.
  public let _lifetime: WorkspaceLifetime
  let engine: PostgresEngine

  /// Creates a workspace for a database. It connects when it is first used, so this cannot fail.
  ///
  /// - Parameters:
  ///   - url: The connection string, a URI or a list of keywords and values as libpq reads it, with
  ///     hosts, user, database, TLS settings and timeouts. The database must exist.
  ///   - configuration: The settings.
  public init(_ url: String, configuration: Configuration = Configuration()) {
    engine = PostgresEngine(url: url, configuration)
    let core = WorkspaceCore(
      engine: engine, isSerial: configuration.writeConcurrency == .serial,
      targetQueue: configuration.targetQueue)
    core.onError = configuration.onError
    engine.connect(core.reporter)
    _lifetime = WorkspaceLifetime(core)
  }

  /// Connects to a database and returns a workspace that is ready for use.
  ///
  ///     let dflat = try await PostgresWorkspace.open("postgresql:///app")
  ///
  /// Tables that are missing are created, so a server that cannot be reached, a refused password, a
  /// missing database or permission is reported at once. It does not block the task's thread.
  ///
  /// - Parameters:
  ///   - url: The connection string; see ``init(_:configuration:)``.
  ///   - configuration: The settings.
  /// - Returns: The workspace.
  /// - Throws: `StorageError` that says what is wrong and what to do: `.cannotOpen` if there is no
  ///   connection, `.readOnly` if the role may not create tables.
  public static func open(
    _ url: String, configuration: Configuration = Configuration()
  ) async throws -> PostgresWorkspace {
    let workspace = PostgresWorkspace(url, configuration: configuration)
    try await workspace.engine.offTask { engine in try engine.open() }
    return workspace
  }

  /// The settings of a workspace.
  ///
  /// An impossible value, such as a limit of no readers, is a programmer error when the workspace
  /// is created.
  public struct Configuration: Sendable {
    /// The PostgreSQL schema of all tables; it is created if it does not exist. If it is no name,
    /// of 1 to 63 bytes without NUL, connecting fails with `StorageError.Cause.cannotOpen`.
    public var schema = "dflat"
    /// Whether transactions of different types may run at the same time.
    public var writeConcurrency = WriteConcurrency.concurrent
    /// Where change handlers and completion handlers run. If nil, the workspace creates a queue of
    /// its own.
    public var targetQueue: DispatchQueue?
    /// Whether the workspace only reads, for example from a standby.
    public var isReadOnly = false
    /// Which servers answer queries.
    public var readsFrom = ReadSource.sameServer
    /// Whether transactions that wait for each other share a commit.
    ///
    /// Many transactions are then faster. But one that joins a commit sees what other processes had
    /// committed when the first one began, some milliseconds before; though nothing older than what
    /// the workspace has shown by a query, a snapshot or a live result. And if the server refuses
    /// an update or a deletion of one of them, for example since a lock is not granted in time, all
    /// fail as by a conflict: `write` runs each again, with its own errors, and `performChanges`
    /// fails.
    public var sharesCommits = false
    /// How many transactions write at the same time, each on a connection of its own, if they have
    /// no type in common. It is one if transactions share commits, or if `writeConcurrency` is
    /// `serial`.
    ///
    /// With more than one, transactions of the same workspace can be in conflict where they change
    /// dictionaries: `write` runs its closure again, and `performChanges` is refused.
    public var writerLimit = 1
    /// Whether what is observed follows what other workspaces commit, on a connection of its own
    /// that is made with the first subscription. If not, `lookForOtherWriters(every:)` is there.
    public var followsOtherWriters = true
    /// How many entries the log of changes keeps; each transaction writes one for each type that it
    /// changes. A workspace that was disconnected for longer reads everything again that is
    /// observed.
    public var changeLogLength = 10_000
    /// The path of a file that keeps the newest timeline of the server that a program on this
    /// machine has used; nil for none.
    ///
    /// A failover begins a new timeline. A workspace uses no server with an older timeline than it
    /// has used itself, or than another host of the connection string knows when it connects. With
    /// this file it also knows what it has used before the program began, and what other programs
    /// with the same file have used. So it does not use an old primary that comes back, even if no
    /// other host can be reached. The file is created if it does not exist. All workspaces that
    /// name it must use one server and its standbys. Delete it before they use another one.
    public var fencingFile: String?
    /// How often a workspace that listens looks for commits whose notification was lost.
    package var listenerPause = Duration.seconds(10)
    /// How many queries run at the same time; when all connections are in use a fetch waits for
    /// one. Snapshots and transactions have connections beyond this number.
    public var readerLimit = 8
    /// How many connections the workspace has at most, snapshots and transactions included; nil for
    /// as many as it needs. A call that needs one when all are in use waits for it for
    /// ``connectTimeout``, and then fails with `StorageError.Cause.busy`. At least four, and one
    /// more for each writer beyond the first: for writing, for reading, for following others, and
    /// for creating tables and indexes.
    ///
    /// Without it a workspace has up to ``readerLimit`` connections for queries, as many again if
    /// standbys answer them, ``writerLimit`` for writing, one for following others, two while tables and indexes are created, and one for
    /// each open snapshot and each transaction that has only read.
    public var connectionLimit: Int?
    /// How long a connection may be idle before the next query closes it.
    public var readerIdleLifetime = Duration.seconds(60)
    /// How long connecting may take, in whole seconds, if the connection string does not say it.
    public var connectTimeout = Duration.seconds(10)
    /// How long a server that was reached before is tried again, when it cannot be reached.
    public var reconnectTimeout = Duration.seconds(5)
    /// For how long `write` runs a closure again after conflicts with other programs, if it is
    /// called without `attempts`. It runs it at least eight times, and then throws
    /// `StorageError.Cause.conflict`.
    ///
    /// From the fifth run on, the transactions of other programs wait until this one has ended, so
    /// it commits, unless one of them takes longer than a second.
    public var conflictTimeout = Duration.seconds(10)
    /// How long a statement waits for a lock. After that it fails with `StorageError.Cause.busy`.
    /// If the server, the database or the role has a shorter `lock_timeout`, that is the limit.
    public var lockTimeout = Duration.seconds(30)
    /// How long a statement may take; nil for as long as the server, the database or the role
    /// allows by `statement_timeout`. The shorter one of both is the limit. After that a statement
    /// fails with `StorageError.Cause.busy`. The creation of indexes has no such limit.
    public var statementTimeout: Duration?
    /// How many prepared statements each connection caches.
    public var statementCacheCapacity = 200
    /// Called with each event, for logs; see ``PostgresEvent``. It runs on the thread where the
    /// event happens, often with a connection or a lock of the engine, so it must return soon and
    /// not call the workspace.
    public var onEvent: (@Sendable (PostgresEvent) -> Void)?
    /// Called on any thread with every error that cannot be thrown to a caller.
    public var onError: (@Sendable (any Error) -> Void)?

    /// The default settings, which suit most programs.
    public init() {}

    /// How many write transactions can be open at once.
    var writersAtOnce: Int { sharesCommits || writeConcurrency == .serial ? 1 : writerLimit }

    /// How many connections it may need, without those of snapshots if they have no limit.
    var mostConnections: Int {
      // One follows others. One creates tables and columns, and another one indexes.
      connectionLimit
        ?? (readsFrom == .sameServer ? 1 : 2) * readerLimit + (isReadOnly ? 0 : writersAtOnce + 2)
        + (followsOtherWriters ? 1 : 0)
    }

    func check() {
      require(
        readerLimit > 0,
        "PostgresWorkspace: a readerLimit of \(readerLimit) does not allow any reader")
      require(
        writerLimit > 0,
        "PostgresWorkspace: a writerLimit of \(writerLimit) does not allow any transaction to write: "
          + "set isReadOnly for that")
      require(
        connectionLimit.map { $0 >= 3 + writersAtOnce } ?? true,
        "PostgresWorkspace: a connectionLimit of \(connectionLimit ?? 0) is too small: give at least "
          + "\(3 + writersAtOnce)")
      require(
        statementCacheCapacity >= 10,
        "PostgresWorkspace: a statementCacheCapacity of \(statementCacheCapacity) is too small: "
          + "give at least 10")
      require(
        changeLogLength > 0,
        "PostgresWorkspace: a changeLogLength of \(changeLogLength) keeps no entry: give at least 1"
      )
      require(
        readerIdleLifetime >= .zero && connectTimeout >= .zero && reconnectTimeout >= .zero
          && conflictTimeout >= .zero && lockTimeout >= .zero
          && (statementTimeout ?? .zero) >= .zero,
        "PostgresWorkspace: timeouts must not be negative")
      if case .standbys(let freshness, let patience) = readsFrom {
        require(
          (freshness ?? .zero) >= .zero && patience >= .zero,
          "PostgresWorkspace: the freshness and the patience of readsFrom must not be negative")
      }
    }
  }
}

extension PostgresEngine {
  /// Calls `body` on a thread that may wait for the server. The task waits without a thread.
  func offTask(_ body: @escaping @Sendable (PostgresEngine) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try body(self) }) }
    }
  }
}
