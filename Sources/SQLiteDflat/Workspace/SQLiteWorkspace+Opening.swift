// Making workspaces: from URLs, in memory, and with errors told at once.

import Dflat
public import Dispatch

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteWorkspace {
  /// A workspace for a file, which can be used when this returns.
  ///
  ///     let dflat = try await SQLiteWorkspace.open(url)
  ///
  /// The initialisers cannot fail: what is wrong shows with the first transaction, and fetches are empty until then. This makes the
  /// file if there is none and sets it up, or, with `isReadOnly`, opens it for reading; so it tells at once of a directory that does
  /// not exist, a file that is no database, or a missing permission. No thread of the task waits for it.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - configuration: The settings.
  /// - Returns: The workspace.
  /// - Throws: `StorageError` that names the path, the cause and what to do: with `.cannotOpen` for a missing directory or a file
  ///   that may not be used, `.readOnly` for one that may not be written, `.corruptFile` for what is no database, `.busy` if
  ///   another program keeps its lock for longer than `busyTimeout`.
  public static func open(
    _ url: URL, configuration: Configuration = Configuration()
  ) async throws -> SQLiteWorkspace {
    guard url.isFileURL else {
      throw StorageError(
        .cannotOpen, message: "\(url.absoluteString) is no file URL",
        advice: "give the URL of a file, such as URL(filePath: path)")
    }
    return try await open(filePath: url.path, configuration: configuration)
  }

  /// A workspace for a file, which can be used when this returns; see ``open(_:configuration:)``.
  ///
  /// - Parameters:
  ///   - filePath: The database. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - configuration: The settings.
  /// - Returns: The workspace.
  /// - Throws: `StorageError` that names the path, the cause and what to do.
  public static func open(
    filePath: String, configuration: Configuration = Configuration()
  ) async throws -> SQLiteWorkspace {
    let workspace = SQLiteWorkspace(filePath: filePath, configuration: configuration)
    let engine = workspace.engine
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try engine.open() }) }
    }
    return workspace
  }

  /// A workspace of its own that leaves nothing behind, for tests, previews and caches; see ``init(inMemory:)``.
  ///
  ///     let dflat = SQLiteWorkspace.inMemory()
  ///
  /// - Parameter configuration: The settings.
  /// - Returns: The workspace.
  public static func inMemory(
    _ configuration: Configuration = Configuration()
  ) -> SQLiteWorkspace {
    SQLiteWorkspace(inMemory: configuration)
  }

  /// A workspace for a file. Nothing is opened or created before it is needed, and nothing can fail here.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL: another one is a programmer error. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - fileProtectionLevel: The class in which the three files are created, where the system has such classes.
  ///   - synchronous: What a commit survives.
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where changes handlers and completion handlers run. The workspace has a queue of its own if there is none.
  public convenience init(
    url: URL, fileProtectionLevel: FileProtectionLevel = .noProtection,
    synchronous: Synchronous = .normal, writeConcurrency: WriteConcurrency = .concurrent,
    targetQueue: DispatchQueue? = nil
  ) {
    self.init(
      filePath: Self.path(of: url), fileProtectionLevel: fileProtectionLevel,
      synchronous: synchronous, writeConcurrency: writeConcurrency, targetQueue: targetQueue)
  }

  /// A workspace for a file, with settings. Nothing is opened or created before it is needed, and nothing can fail here.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL: another one is a programmer error. `-wal` and `-shm` files stand beside it while it is in use.
  ///   - configuration: The settings.
  public convenience init(url: URL, configuration: Configuration) {
    self.init(filePath: Self.path(of: url), configuration: configuration)
  }

  private static func path(of url: URL) -> String {
    require(
      url.isFileURL,
      "SQLiteWorkspace(url:) was called with \(url.absoluteString), which is no file URL: "
        + "give the URL of a file, such as URL(filePath: path)")
    return url.path
  }
}
