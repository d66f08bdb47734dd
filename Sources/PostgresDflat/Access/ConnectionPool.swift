// ConnectionPool: the connections that read.
//
//  - A query takes an idle connection or makes one. If as many queries as the limit allows are
//    running, it waits for one of them; snapshots and transactions do not wait.
//  - A connection that is broken, or whose transaction cannot be ended, is closed and not kept.
//  - When the server ends one connection, the idle ones may be gone too: they are closed, and the
//    next query connects again.

import Dispatch
import Platform

final class ConnectionPool: Sendable {
  private struct State {
    var idle: [Connection] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  private let places: DispatchSemaphore
  private let limit: Int
  private let idleLifetime: UInt64
  private let isCurrent: @Sendable (Connection) -> Bool
  private let connect: @Sendable () throws -> Connection

  /// - Parameters:
  ///   - limit: How many queries run at the same time.
  ///   - idleLifetime: After how many nanoseconds an idle connection is closed.
  ///   - isCurrent: Whether a connection can still be used.
  ///   - connect: Makes a connection.
  init(
    limit: Int, idleLifetime: UInt64, isCurrent: @escaping @Sendable (Connection) -> Bool,
    connect: @escaping @Sendable () throws -> Connection
  ) {
    self.isCurrent = isCurrent
    self.limit = limit
    self.idleLifetime = idleLifetime
    self.connect = connect
    places = DispatchSemaphore(value: limit)
  }

  /// Calls `body` with a connection.
  /// - Parameter beyondLimit: Whether this does not wait for other queries.
  func withConnection<R: ~Copyable>(
    beyondLimit: Bool, _ body: (Connection) throws -> R
  ) throws -> R {
    if !beyondLimit { places.wait() }
    defer { if !beyondLimit { places.signal() } }
    let connection = try take()
    defer { putBack(connection) }
    return try body(connection)
  }

  /// An idle connection, or a new one.
  func take() throws -> Connection {
    let idle = try state.withLock { state throws(StorageClosed) -> Connection? in
      if state.isClosed { throw StorageClosed() }
      return state.idle.popLast()
    }
    if let idle, isCurrent(idle) { return idle }
    return try connect()
  }

  /// Returns a connection. A transaction that is still open is rolled back.
  func putBack(_ connection: Connection) {
    if !connection.isIdle { try? connection.rollback() }
    guard connection.isIdle else { return }
    let now = MonotonicTime.now
    connection.lastUse = now
    // Closed outside of the lock.
    let surplus = state.withLock { state -> [Connection] in
      if state.isClosed { return [connection] }
      state.idle.append(connection)
      // Another thread may have returned one later than this one.
      let old = state.idle.prefix { now > $0.lastUse && now - $0.lastUse > idleLifetime }.count
      let count = max(old, state.idle.count - limit)
      let surplus = Array(state.idle.prefix(count))
      state.idle.removeFirst(count)
      return surplus
    }
    withExtendedLifetime(surplus) {}
  }

  /// Closes the idle connections.
  func closeIdle() {
    let idle = state.withLock { state -> [Connection] in
      defer { state.idle = [] }
      return state.idle
    }
    withExtendedLifetime(idle) {}
  }

  /// Closes the idle connections, and from now on each one that is returned.
  func close() {
    state.withLock { $0.isClosed = true }
    closeIdle()
  }
}

/// The pool was closed.
struct StorageClosed: Error {}
