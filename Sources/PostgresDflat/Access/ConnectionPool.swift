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
  private let connect: @Sendable (ConnectionPlaces.Place) throws -> Connection
  private let allPlaces: ConnectionPlaces
  private let events: EventRecorder

  /// - Parameters:
  ///   - limit: How many queries run at the same time.
  ///   - idleLifetime: After how many nanoseconds an idle connection is closed.
  ///   - isCurrent: Whether a connection can still be used.
  ///   - places: The places of all connections of the workspace.
  ///   - connect: Makes a connection.
  init(
    limit: Int, idleLifetime: UInt64, _ places: ConnectionPlaces, _ events: EventRecorder,
    isCurrent: @escaping @Sendable (Connection) -> Bool,
    connect: @escaping @Sendable (ConnectionPlaces.Place) throws -> Connection
  ) {
    allPlaces = places
    self.events = events
    self.isCurrent = isCurrent
    self.limit = limit
    self.idleLifetime = idleLifetime
    self.connect = connect
    self.places = DispatchSemaphore(value: limit)
  }

  /// Calls `body` with a connection.
  /// - Parameter beyondLimit: Whether this does not wait for other queries.
  func withConnection<R: ~Copyable>(
    beyondLimit: Bool, _ body: (Connection) throws -> R
  ) throws -> R {
    if !beyondLimit { awaitPlace() }
    defer { if !beyondLimit { places.signal() } }
    let connection = try take()
    defer { putBack(connection) }
    return try body(connection)
  }

  /// The number of idle connections.
  var idleCount: Int { state.withLock { $0.idle.count } }

  /// Waits until fewer queries run than the limit allows.
  private func awaitPlace() {
    if places.wait(timeout: .now()) == .success { return }
    let start = MonotonicTime.now
    places.wait()
    events.note(.waitedForConnection(.nanoseconds(Int64(MonotonicTime.now - start))))
  }

  /// An idle connection, or a new one.
  func take() throws -> Connection {
    let found = try allPlaces.wait { () throws -> Found? in
      if let idle = try takeIdle() { return .idle(idle) }
      return allPlaces.take().map(Found.place)
    }
    switch found {
    case .idle(let connection): return connection
    case .place(let place): return try connect(place)
    }
  }

  private enum Found {
    case idle(Connection)
    /// The place of a new one.
    case place(ConnectionPlaces.Place)
  }

  private func takeIdle() throws -> Connection? {
    let idle = try state.withLock { state throws(StorageClosed) -> Connection? in
      if state.isClosed { throw StorageClosed() }
      return state.idle.popLast()
    }
    return idle.flatMap { isCurrent($0) ? $0 : nil }
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
    allPlaces.noteChange()
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
