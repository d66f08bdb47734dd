// SQLiteWorkspace: a workspace over one SQLite file.

@_exported public import Dflat
public import Dispatch

/// A workspace whose objects are in an SQLite file.
///
///     let dflat = SQLiteWorkspace(filePath: path)
///     let popular = dflat.fetch(for: Post.self).where(Post.likes > 100)
///
/// The file is made by the first transaction, or by ``open(_:configuration:)``, which tells at once if that cannot be. It is a plain database in WAL mode: any number of workspaces, processes and other
/// programs may use it at the same time.
public final class SQLiteWorkspace: Workspace {
  /// How the file is protected while the device is locked. Effective on iOS, watchOS and tvOS only.
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
    /// The end of the process. Power loss may take the last transactions, never the file's integrity.
    case normal
    /// Power loss, too.
    case full
  }

  /// What all engines' workspaces share, for Dflat; the calls of `Workspace` go to its core.
  public let _lifetime: WorkspaceLifetime
  let engine: SQLiteEngine
  /// The database file. That of a workspace in memory exists from the first transaction to the end of the workspace.
  public var filePath: String { engine.path }

  /// A workspace for a file. Nothing is opened or created before it is needed, and nothing can fail here.
  ///
  /// - Parameters:
  ///   - filePath: The database. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - fileProtectionLevel: The class in which the three files are created, where the system has such classes.
  ///   - synchronous: What a commit survives.
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where changes handlers and completion handlers run. The workspace has a queue of its own if there is none.
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
  }

  /// A workspace for a file, with settings. Nothing is opened or created before it is needed, and nothing can fail here.
  ///
  /// - Parameters:
  ///   - filePath: The database. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - configuration: The settings.
  public init(filePath: String, configuration: Configuration) {
    (_lifetime, engine) = Self.make(filePath, configuration)
  }

  /// A workspace of its own that leaves nothing behind, for tests, previews and caches.
  ///
  /// It does all that a workspace for a file does, in the same way: snapshots, several readers beside the writer, indexes.
  /// It is a file, too, in a directory that no other workspace has: in memory where the system has a file system there
  /// (`/dev/shm` on Linux, if it has room), otherwise among the temporary files. Nothing waits for a disk. The directory is removed at
  /// `shutdown`, when the workspace is released, and when the process ends; after a crash, when the next such workspace is used.
  ///
  /// - Parameter configuration: The settings. `synchronous` and `fileProtectionLevel` mean nothing here, and a workspace that could
  ///   only be read would be empty for ever: that is a programmer error.
  public init(inMemory configuration: Configuration) {
    require(
      !configuration.isReadOnly,
      "SQLiteWorkspace(inMemory:) was called with isReadOnly: it would be empty for ever")
    (_lifetime, engine) = Self.make(nil, configuration)
  }

  private static func make(
    _ path: String?, _ configuration: Configuration
  ) -> (WorkspaceLifetime, SQLiteEngine) {
    let engine = SQLiteEngine(path: path, configuration)
    let core = WorkspaceCore(
      engine: engine, isSerial: configuration.writeConcurrency == .serial,
      targetQueue: configuration.targetQueue,
      migrationHandler: { schema, progress in
        engine.tell(
          .migration(
            table: schema.table, migrated: progress.migrated, remaining: progress.remaining))
      })
    core.onError = configuration.onError
    engine.connect(core.reporter)
    return (WorkspaceLifetime(core), engine)
  }

  /// Refuses new work, lets what was accepted run to its end, carries the flags out and closes; without a completion it waits for that.
  public func shutdown(flags: ShutdownFlag, completion: (@Sendable () -> Void)?) {
    _core.shutdown(completion) { [engine] in try engine.close(flags) }
  }
}
