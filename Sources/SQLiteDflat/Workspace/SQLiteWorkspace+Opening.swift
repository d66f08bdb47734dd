// Creating workspaces: from URLs, in memory, and with errors thrown at once.

import Dflat
public import Dispatch

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SQLiteWorkspace {
  /// Opens a file and returns a workspace that is ready for use.
  ///
  ///     let dflat = try await SQLiteWorkspace.open(url)
  ///
  /// The initialisers cannot fail: problems show with the first transaction, and fetches are empty
  /// until then. This function creates the file if necessary and sets it up, or, with `isReadOnly`,
  /// opens it for reading. So a missing directory, a file that is not a database, or a missing
  /// permission is reported at once. It does not block the task's thread.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL. Files ending in `-wal` and `-shm` are beside it while it is
  ///     in use.
  ///   - configuration: The settings.
  /// - Returns: The workspace.
  /// - Throws: `StorageError` that names the path, the cause and what to do: `.cannotOpen` for a
  ///   missing directory or a file that must not be used, `.readOnly` for one that must not be
  ///   written, `.corruptFile` for one that is not a database, `.busy` if another program holds its
  ///   lock for longer than `busyTimeout`.
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

  /// Opens a file and returns a workspace that is ready for use; see ``open(_:configuration:)``.
  ///
  /// - Parameters:
  ///   - filePath: The database. Files ending in `-wal` and `-shm` are beside it while it is in
  ///     use.
  ///   - configuration: The settings.
  /// - Returns: The workspace.
  /// - Throws: `StorageError` that names the path, the cause and what to do.
  public static func open(
    filePath: String, configuration: Configuration = Configuration()
  ) async throws -> SQLiteWorkspace {
    if filePath == ":memory:" {
      throw StorageError(
        .cannotOpen, message: "\":memory:\" is the path of no file", path: filePath,
        advice: "for data in memory write SQLiteWorkspace.inMemory() or MemoryWorkspace()")
    }
    let workspace = SQLiteWorkspace(filePath: filePath, configuration: configuration)
    let engine = workspace.engine
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(with: Result { try engine.open() }) }
    }
    return workspace
  }

  /// Creates a private workspace that leaves nothing behind, for tests, previews and caches; see
  /// ``init(inMemory:)``.
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

  /// Creates a workspace for a file. The file is only opened or created when needed, so this cannot
  /// fail.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL: any other URL is a programmer error. Files ending in `-wal`
  ///     and `-shm` are beside it while it is in use.
  ///   - fileProtectionLevel: The class in which the three files are created, where the system has
  ///     such classes.
  ///   - synchronous: What a commit survives.
  ///   - writeConcurrency: Whether transactions of different types may run at the same time.
  ///   - targetQueue: Where change handlers and completion handlers run. If nil, the workspace
  ///     creates a queue of its own.
  public convenience init(
    url: URL, fileProtectionLevel: FileProtectionLevel = .noProtection,
    synchronous: Synchronous = .normal, writeConcurrency: WriteConcurrency = .concurrent,
    targetQueue: DispatchQueue? = nil
  ) {
    self.init(
      filePath: Self.path(of: url), fileProtectionLevel: fileProtectionLevel,
      synchronous: synchronous, writeConcurrency: writeConcurrency, targetQueue: targetQueue)
  }

  /// Creates a workspace for a file, with settings. The file is only opened or created when needed,
  /// so this cannot fail.
  ///
  /// - Parameters:
  ///   - url: The database, a file URL: any other URL is a programmer error. Files ending in `-wal`
  ///     and `-shm` are beside it while it is in use.
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
