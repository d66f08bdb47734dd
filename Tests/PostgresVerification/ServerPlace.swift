// ServerPlace: where the processes of a run find their data on a server, and how they open it.

import DflatTestSupport
public import DflatVerification
import Dispatch
import Foundation
import Platform
import PostgresDflat
import PostgresTestSupport

/// A PostgreSQL schema of a run, and the settings with which all of its workspaces open it.
public struct ServerPlace: Codable, Sendable {
  /// The connection string.
  public var url: String
  /// The schema of all tables.
  public var schema = "verify_" + String(UInt64.random(in: 0...UInt64.max), radix: 36)
  /// Spaces whose keys are values in the workspace's dictionary.
  public var spacesInDictionary: Set<Int> = []
  /// Whether transactions share commits.
  public var sharesCommits = false
  /// How many transactions of a workspace write at the same time.
  public var writerLimit = 1

  /// How often a transaction may meet conflicts: in the end it has to be committed.
  private static let attempts = 10_000

  /// A place on a server.
  public init(url: String) {
    self.url = url
  }

  /// The place in one word, for another process.
  public var word: String {
    get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
  }

  /// Reads the place from its word.
  public init(word: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(word.utf8))
  }

  /// Opens a workspace as a store for clients. The server may be starting.
  public func open() throws -> WorkspaceStore {
    WorkspaceStore(
      try openWorkspace(), isShared: true, spacesInDictionary: spacesInDictionary,
      attempts: Self.attempts)
  }

  /// Opens a workspace. The server may be starting.
  /// - Parameter configure: Changes the settings.
  func openWorkspace(
    _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
  ) throws -> PostgresWorkspace {
    var configuration = PostgresWorkspace.Configuration()
    configuration.schema = schema
    configuration.sharesCommits = sharesCommits
    configuration.writerLimit = writerLimit
    // However long a failover takes, the outcome of each commit is found out.
    configuration.reconnectTimeout = .seconds(60)
    configure(&configuration)
    let deadline = ContinuousClock.now + .seconds(60)
    while true {
      do {
        return try wait { [configuration] in
          try await PostgresWorkspace.open(url, configuration: configuration)
        }
      } catch let error as StorageError {
        let mayFollow = [.cannotOpen, .busy, .conflict].contains(error.cause)
        if !mayFollow || ContinuousClock.now > deadline { throw error }
        usleep(50_000)
      }
    }
  }

  /// Removes the schema. The server may be starting.
  /// - Returns: How many commits were looked up because their answers were lost.
  public func remove() throws -> Int {
    let deadline = ContinuousClock.now + .seconds(60)
    var lookups: Int?
    while true {
      do {
        let plain = try PlainConnection(url)
        if lookups == nil {
          let sum = try plain.run("SELECT sum(fence) FROM \"\(schema)\"._dflat_commits")
          lookups = sum[0][0].flatMap { Int($0) } ?? 0
        }
        try plain.run("DROP SCHEMA IF EXISTS \"\(schema)\" CASCADE")
        return lookups ?? 0
      } catch {
        if ContinuousClock.now > deadline { throw error }
        usleep(50_000)
      }
    }
  }
}

private let tasks = TaskQueue()

/// Waits on this thread for the result of a task, which needs none of the threads that tests block.
func wait<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
  let done = DispatchSemaphore(value: 0)
  let result = TaskResult<R>()
  Task(executorPreference: tasks) {
    do {
      let value = try await body()
      result.value.withLock { $0 = .success(value) }
    } catch {
      result.value.withLock { $0 = .failure(error) }
    }
    done.signal()
  }
  done.wait()
  guard let value = result.value.withLock({ $0 }) else { throw CancellationError() }
  return try value.get()
}

private final class TaskResult<R: Sendable>: Sendable {
  let value = Mutex<Result<R, any Error>?>(nil)
}
