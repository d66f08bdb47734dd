// ConnectionPlaces: how many connections a workspace has, and may have.
//
// Each connection has a place from before it is made until it is closed. If all are taken, a caller
// that needs one waits until another one is closed, or returned to the pool. Idle connections that
// read are closed for others. A call that waits for too long fails, since it may hold the place
// itself for which it waits.

import Dflat
import Dispatch
import Platform

final class ConnectionPlaces: Sendable {
  /// The place of a connection, given back with its last reference.
  final class Place: Sendable {
    private let places: ConnectionPlaces

    fileprivate init(_ places: ConnectionPlaces) { self.places = places }

    deinit { places.giveBack() }
  }

  private struct State {
    var taken = 0
    var waiting: [DispatchSemaphore] = []
  }

  /// The greatest number of connections; nil for any.
  private let limit: Int?
  /// For how long a call waits.
  private let patience: Duration
  private let hasWaited: @Sendable (Duration) -> Void
  private let state = Mutex(State())

  /// - Parameter hasWaited: Called when a call has waited.
  init(limit: Int?, patience: Duration, hasWaited: @escaping @Sendable (Duration) -> Void) {
    self.limit = limit
    self.patience = patience
    self.hasWaited = hasWaited
  }

  /// The number of connections.
  var count: Int { state.withLock { $0.taken } }

  /// Takes a place, if one is free.
  func take() -> Place? {
    let isFree = state.withLock { state in
      if let limit, state.taken >= limit { return false }
      state.taken += 1
      return true
    }
    return isFree ? Place(self) : nil
  }

  private func giveBack() {
    state.withLock { $0.taken -= 1 }
    noteChange()
  }

  /// Called when a place was given back, or a connection is idle.
  func noteChange() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for semaphore in waiting { semaphore.signal() }
  }

  /// Calls `attempt` until it returns something: at once, and then after each change.
  /// - Throws: `StorageError` with `.busy` if that takes too long; what `attempt` throws.
  func wait<R>(for attempt: () throws -> R?) throws -> R {
    if let result = try attempt() { return result }
    let start = MonotonicTime.now
    defer { hasWaited(.nanoseconds(Int64(MonotonicTime.now - start))) }
    let deadline =
      DispatchTime.now() + .nanoseconds(Int(min(MonotonicTime.nanoseconds(patience), 1 << 60)))
    while true {
      let change = DispatchSemaphore(value: 0)
      state.withLock { $0.waiting.append(change) }
      if let result = try attempt() { return result }
      if change.wait(timeout: deadline) == .timedOut {
        state.withLock { $0.waiting.removeAll { $0 === change } }
        throw StorageError(
          .busy,
          message: "all \(limit ?? 0) connections that the workspace may have are in use",
          advice: "close snapshots and transactions sooner, or raise connectionLimit")
      }
    }
  }
}
