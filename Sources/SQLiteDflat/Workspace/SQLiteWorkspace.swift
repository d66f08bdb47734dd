// SQLiteWorkspace: a workspace that stores its objects in one SQLite file.

@_exported public import Dflat
public import Dispatch

/// A workspace that stores its objects in an SQLite file.
///
///     let dflat = SQLiteWorkspace(filePath: path)
///     let popular = dflat.fetch(for: Post.self).where(Post.likes > 100)
///
/// The file is created by the first transaction, or by ``open(_:configuration:)``, which throws if
/// that fails. It is an ordinary database in WAL mode: any number of workspaces, processes and
/// other programs may use it at the same time.
public final class SQLiteWorkspace: Workspace {
  /// How the file is protected while the device is locked. It has an effect on iOS, watchOS and
  /// tvOS only.
  public enum FileProtectionLevel: Int32, Sendable {
    case noProtection = 4
    case completeFileProtection = 1
    case completeFileProtectionUnlessOpen = 2
    case completeFileProtectionUntilFirstUserAuthentication = 3
  }

  /// Whether transactions of different types may run at the same time.
  public enum WriteConcurrency: Sendable {
    case concurrent
    case serial
  }

  /// What a commit survives.
  public enum Synchronous: Sendable {
    /// The end of the process. A power failure may lose the last transactions, but never damages
    /// the file.
    case normal
    /// A power failure, too.
    case full
  }

  /// For Dflat: what the workspaces of all engines share; the calls of `Workspace` go to its core.
  public let _lifetime: WorkspaceLifetime
  let engine: SQLiteEngine
  /// The path of the database file, as it was given: a relative one leads from the directory that
  /// was current then. An in-memory workspace has a file from its first transaction on until the
  /// workspace ends.
  public let filePath: String

  /// Creates a workspace for a file. The file is only opened or created when needed, so this cannot
  /// fail.
  ///
  /// - Parameters:
  ///   - filePath: The database. Files ending in `-wal` and `-shm` are beside it while it is in
  ///     use.
  ///   - fileProtectionLevel: The class in which the three files are created, where the system has
  ///     such classes.
  ///   - synchronous: What a commit survives.
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where change handlers and completion handlers run. If nil, the workspace
  ///     creates a queue of its own.
  public required init(
    filePath: String, fileProtectionLevel: FileProtectionLevel = .noProtection,
    synchronous: Synchronous = .normal, writeConcurrency: WriteConcurrency = .concurrent,
    targetQueue: DispatchQueue? = nil
  ) {
    var configuration = Configuration()
    configuration.fileProtectionLevel = fileProtectionLevel
    configuration.synchronous = synchronous
    configuration.writeConcurrency = writeConcurrency
    configuration.targetQueue = targetQueue
    (_lifetime, engine) = Self.make(filePath, configuration)
    self.filePath = filePath
  }

  /// Creates a workspace for a file, with settings. The file is only opened or created when needed,
  /// so this cannot fail.
  ///
  /// - Parameters:
  ///   - filePath: The database. Files ending in `-wal` and `-shm` are beside it while it is in
  ///     use.
  ///   - configuration: The settings.
  public init(filePath: String, configuration: Configuration) {
    (_lifetime, engine) = Self.make(filePath, configuration)
    self.filePath = filePath
  }

  /// Creates a private workspace that leaves nothing behind, for tests, previews and caches.
  ///
  /// It supports everything that a workspace for a file does: snapshots, several readers beside the
  /// writer, indexes. It is stored in a file, too, in a directory of its own: in a memory file
  /// system where there is one (`/dev/shm` on Linux, if it has room), otherwise among the temporary
  /// files. It never waits for a disk. The directory is removed at `shutdown`, when the workspace
  /// is released, and when the process ends; after a crash, when the next such workspace is used.
  ///
  /// - Parameter configuration: The settings. `synchronous` and `fileProtectionLevel` have no
  ///   effect. `isReadOnly` is a programmer error, because such a workspace would always be empty.
  public init(inMemory configuration: Configuration) {
    require(
      !configuration.isReadOnly,
      "SQLiteWorkspace(inMemory:) was called with isReadOnly: it would always be empty")
    (_lifetime, engine) = Self.make(nil, configuration)
    filePath = engine.path
  }

  private static func make(
    _ path: String?, _ configuration: Configuration
  ) -> (WorkspaceLifetime, SQLiteEngine) {
    let engine = SQLiteEngine(path: path, configuration)
    let core = WorkspaceCore(
      engine: engine, isSerial: configuration.writeConcurrency == .serial,
      targetQueue: configuration.targetQueue,
      migrationHandler: { schema, progress in
        engine.reports.deliver(
          .migration(
            table: schema.table, migrated: progress.migrated, remaining: progress.remaining))
      })
    core.onError = configuration.onError
    engine.reports.connect(core.reporter)
    return (WorkspaceLifetime(core), engine)
  }

  /// Refuses new work, finishes what was accepted, carries out the flags and closes the file.
  /// Without a completion handler it waits for that.
  public func shutdown(flags: ShutdownFlag, completion: (@Sendable () -> Void)?) {
    _core.shutdown(completion) { [engine] in try engine.close(flags) }
  }
}
