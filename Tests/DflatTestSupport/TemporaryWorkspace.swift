// A workspace in a directory of its own, for the time of one test.

public import Dflat
public import Dispatch
public import SQLiteAccess
public import SQLiteDflat
import Foundation
import Synchronization
public import Testing

/// A workspace and its file. Errors that the workspace reports are kept; those that are not taken fail the test.
public final class TemporaryWorkspace: Sendable {
  /// The workspace.
  public let dflat: SQLiteWorkspace
  /// The database file.
  public let path: String
  private let errors = Mutex<[any Error]>([])
  private let log: EventLog

  /// - Parameters:
  ///   - path: The file; nil for a workspace in memory.
  ///   - configure: Changes the settings.
  public init(path: String?, _ configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in })
  {
    var configuration = SQLiteWorkspace.Configuration()
    let log = EventLog()
    configuration.onEvent = { log.add($0) }
    configure(&configuration)
    self.log = log
    dflat =
      path.map { SQLiteWorkspace(filePath: $0, configuration: configuration) }
      ?? SQLiteWorkspace(inMemory: configuration)
    self.path = dflat.filePath
    dflat.errorHandler = { [weak self] error in
      // Who calls `try(submit:)` in a test looks at what it gives.
      if !(error is RefusedRequest) { self?.errors.withLock { $0.append(error) } }
    }
  }

  /// What the workspace has told of its file since the last call.
  public func takeEvents() -> [SQLiteWorkspace.Event] { log.take() }

  /// The errors reported since the last call. What is taken is expected.
  public func takeErrors() -> [StorageError] {
    errors.withLock { errors in
      defer { errors.removeAll() }
      return errors.map {
        $0 as? StorageError ?? StorageError(.other, message: "no storage error: \($0)")
      }
    }
  }

  // MARK: Writing

  /// What became of a transaction.
  public struct Outcome<R> {
    /// What the body gave; nil if it did not run.
    public let result: R?
    /// What the completion handler was told.
    public let isCommitted: Bool
  }

  /// Runs a transaction and waits for it. An error that `body` throws aborts it. Throws `NotInTime` if it does not complete.
  @discardableResult
  public func write<R>(
    _ types: [Any.Type], _ body: @escaping (any TransactionContext) throws -> R
  ) throws -> Outcome<R> {
    // Unsafe, and yet in order: both handlers have run before this function returns.
    nonisolated(unsafe) var result: Result<R, any Error>?
    nonisolated(unsafe) var isCommitted = false
    nonisolated(unsafe) let body = body
    let done = DispatchSemaphore(value: 0)
    dflat.performChanges(
      types,
      changesHandler: { txn in
        result = Result { try body(txn) }
        if case .failure? = result { txn.abort() }
      },
      completionHandler: {
        isCommitted = $0
        done.signal()
      })
    try done.wait(for: "the completion of a transaction")
    return Outcome(result: try result?.get(), isCommitted: isCommitted)
  }

  // MARK: Behind the workspace's back

  /// A connection of its own to the file, as another program would have.
  public func foreignConnection() throws -> Connection {
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection
  }

  /// Changes the file as another program would.
  public func tamper(_ sql: String, _ values: [SQLValue] = []) throws {
    let connection = try foreignConnection()
    if values.isEmpty { try connection.execute(sql) } else { try connection.execute(sql, values) }
    try connection.close()
  }

  /// Another workspace on the same file.
  public func secondWorkspace(targetQueue: DispatchQueue? = nil) -> TemporaryWorkspace {
    TemporaryWorkspace(path: path) { $0.targetQueue = targetQueue }
  }

  /// The first column of what the command `sqlite3` prints.
  public func sqlite3(_ sql: String) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["sqlite3", path, sql]
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Whether the file, or one that SQLite keeps beside it, exists.
  public func fileExists(_ suffix: String = "") -> Bool {
    FileManager.default.fileExists(atPath: path + suffix)
  }

  /// Records every error that nobody took.
  func finish(_ sourceLocation: SourceLocation) {
    let isClosed = DispatchSemaphore(value: 0)
    dflat.shutdown { isClosed.signal() }
    isClosed.expect("the end of the workspace", sourceLocation: sourceLocation)
    for error in takeErrors() {
      Issue.record("the workspace reported: \(error)", sourceLocation: sourceLocation)
    }
  }
}

/// Where a workspace keeps its objects.
public enum StorageKind: CaseIterable, Sendable {
  case file
  case memory

  /// What tests use that do not choose: files, or memory if `DFLAT_STORAGE` is `memory`.
  public static let standard =
    ProcessInfo.processInfo.environment["DFLAT_STORAGE"] == "memory" ? StorageKind.memory : .file
}

/// Runs `body` with a workspace on a file that does not exist yet.
public func withTemporaryWorkspace<R>(
  _ kind: StorageKind = .standard, targetQueue: DispatchQueue? = nil,
  configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (TemporaryWorkspace) throws -> R
) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryWorkspace(path: kind == .file ? directory + "/test.db" : nil) {
    $0.targetQueue = targetQueue
    configure(&$0)
  }
  defer { workspace.finish(sourceLocation) }
  return try body(workspace)
}

/// Runs `body` with a workspace on a file that does not exist yet.
public func withTemporaryWorkspace<R>(
  _ kind: StorageKind = .standard, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (TemporaryWorkspace) async throws -> R
) async throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryWorkspace(path: kind == .file ? directory + "/test.db" : nil)
  defer { workspace.finish(sourceLocation) }
  return try await body(workspace)
}

/// A transaction that a test relies on was not committed.
public struct NotCommitted: Error, CustomStringConvertible {
  /// What the workspace reported until then.
  public let errors: [StorageError]

  /// - Parameter errors: What the workspace reported.
  public init(errors: [StorageError]) { self.errors = errors }

  /// That, in words.
  public var description: String {
    "a transaction was not committed; the workspace reported: \(errors)"
  }
}

/// The events that a workspace has told.
private final class EventLog: Sendable {
  private let events = Mutex<[SQLiteWorkspace.Event]>([])

  func add(_ event: SQLiteWorkspace.Event) { events.withLock { $0.append(event) } }

  func take() -> [SQLiteWorkspace.Event] {
    events.withLock { events in
      defer { events.removeAll() }
      return events
    }
  }
}

/// A new empty directory.
public func makeTemporaryDirectory() throws -> String {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "dflat-\(UInt64.random(in: 0...UInt64.max))")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  return url.path
}

extension TransactionContext {
  /// Stores a new object.
  public func insert<Request: ChangeRequest>(_ request: Request) throws -> Request.Element {
    guard case .inserted(let object) = try submit(request) else {
      throw StorageError(.other, message: "a creation did not insert")
    }
    return object
  }
}
