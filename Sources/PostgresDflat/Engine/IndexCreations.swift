// IndexCreations: the server creates indexes for a workspace, until that is closed.

import CPostgres
import Dflat
import Dispatch
import Platform

/// Runs statements that take long, one at a time.
final class IndexCreations: Sendable {
  /// Where they run.
  let queue = DispatchQueue(label: "dflat.postgres.indexes")
  private let state = Mutex<(running: Cancellation?, isClosed: Bool)>((nil, false))

  /// Whether the workspace is closed, or is being closed.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Runs a statement, unless the workspace is closed.
  /// - Throws: `PostgresError`, if the workspace is closed meanwhile, too.
  func run(_ sql: String, _ connection: Connection) throws(PostgresError) {
    let cancellation = Cancellation(connection)
    let isClosed = state.withLock { state in
      state.running = cancellation
      return state.isClosed
    }
    defer { state.withLock { $0.running = nil } }
    if !isClosed { try connection.execute(sql) }
  }

  /// Ends the statement that is running.
  func close() {
    // The server ignores a request that comes before the statement.
    for _ in 0..<100 {
      let running = state.withLock { state in
        state.isClosed = true
        return state.running
      }
      guard let running else { return }
      running.request()
      usleep(10_000)
    }
  }
}

/// Asks the server to end the statement that a connection runs.
private final class Cancellation: Sendable {
  private let handle: Mutex<OpaquePointer?>

  init(_ connection: Connection) { handle = Mutex(PQgetCancel(connection.handle)) }

  deinit { handle.withLock { PQfreeCancel($0) } }

  /// Sends the request. If it does not arrive, the statement goes on.
  func request() {
    handle.withLock { handle in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { reason in
        _ = PQcancel(handle, reason.baseAddress, 256)
      }
    }
  }
}
