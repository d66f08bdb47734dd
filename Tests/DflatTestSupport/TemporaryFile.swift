// TemporaryFile: a workspace on an SQLite file in its own directory, for one test.

public import Dflat
public import Dispatch
import Foundation
import Platform
public import SQLiteAccess
public import SQLiteDflat
public import Testing

/// A workspace and its file.
public final class TemporaryFile: TestWorkspace {
  /// The workspace.
  public let dflat: SQLiteWorkspace
  /// The workspace.
  public var workspace: any Workspace { dflat }
  /// What it has reported.
  public let errors = ReportedErrors()
  /// The database file.
  public let path: String
  private let log: EventLog

  /// - Parameters:
  ///   - path: The file; nil for a workspace in memory.
  ///   - configure: Changes the settings.
  public init(path: String?, _ configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in })
  {
    var configuration = SQLiteWorkspace.Configuration()
    let log = EventLog()
    configuration.onEvent = { log.add($0) }
    // All tests of files with `DFLAT_CHECKSUMS=1`.
    configuration.rowChecksums = ProcessInfo.processInfo.environment["DFLAT_CHECKSUMS"] == "1"
    configure(&configuration)
    self.log = log
    dflat =
      path.map { SQLiteWorkspace(filePath: $0, configuration: configuration) }
      ?? SQLiteWorkspace(inMemory: configuration)
    self.path = dflat.filePath
    dflat.errorHandler = { [errors] in errors.add($0) }
  }

  /// The events of the workspace since the last call.
  public func takeEvents() -> [SQLiteWorkspace.Event] { log.take() }

  // MARK: Access from outside of the workspace

  /// A separate connection to the file, like one of another program.
  public func foreignConnection() throws -> Connection {
    let connection = try Connection(path: path)
    try connection.execute("PRAGMA wal_autocheckpoint = 0")
    return connection
  }

  /// Changes the file like another program.
  public func tamper(_ sql: String, _ values: [SQLValue] = []) throws {
    let connection = try foreignConnection()
    if values.isEmpty { try connection.execute(sql) } else { try connection.execute(sql, values) }
    try connection.close()
  }

  /// Another workspace on the same file.
  public func secondWorkspace(targetQueue: DispatchQueue? = nil) -> TemporaryFile {
    TemporaryFile(path: path) { $0.targetQueue = targetQueue }
  }

  /// The first column of the output of the command `sqlite3`.
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

  /// Whether the file exists, or a file with this suffix that SQLite creates for it.
  public func fileExists(_ suffix: String = "") -> Bool {
    FileManager.default.fileExists(atPath: path + suffix)
  }
}

/// Where a workspace keeps its objects.
public enum StorageKind: CaseIterable, Sendable {
  case file
  case memory

  /// The storage of tests that do not choose one: a file, or memory if `DFLAT_STORAGE` is `memory`.
  public static let standard =
    ProcessInfo.processInfo.environment["DFLAT_STORAGE"] == "memory" ? StorageKind.memory : .file
}

/// Runs `body` with a workspace whose file does not exist yet.
public func withTemporaryFile<R>(
  _ kind: StorageKind = .standard, targetQueue: DispatchQueue? = nil,
  configure: (inout SQLiteWorkspace.Configuration) -> Void = { _ in },
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (TemporaryFile) throws -> R
) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryFile(path: kind == .file ? directory + "/test.db" : nil) {
    $0.targetQueue = targetQueue
    configure(&$0)
  }
  defer { workspace.finish(sourceLocation) }
  return try body(workspace)
}

/// Runs `body` with a workspace whose file does not exist yet.
public func withTemporaryFile<R>(
  _ kind: StorageKind = .standard, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (TemporaryFile) async throws -> R
) async throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryFile(path: kind == .file ? directory + "/test.db" : nil)
  defer { workspace.finish(sourceLocation) }
  return try await body(workspace)
}

/// Records the events of a workspace.
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
