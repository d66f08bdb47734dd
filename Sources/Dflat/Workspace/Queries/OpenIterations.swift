// OpenIterations: the snapshots that iterations over queries keep between their steps.
//
// A program decides when the next step comes, if ever. So a shutdown does not wait for the end of
// an iteration: it takes the snapshots away, and the next step throws.

import Platform

/// The iterations of a workspace that keep a snapshot.
final class OpenIterations: Sendable {
  private struct State {
    var isClosed = false
    var snapshots: [ObjectIdentifier: IterationSnapshot] = [:]
  }

  private let state = Mutex(State())

  /// A snapshot for an iteration; nil after `closeAll`.
  func open(_ engine: any StorageEngine) -> IterationSnapshot? {
    state.withLock { state in
      if state.isClosed { return nil }
      let snapshot = IterationSnapshot(engine)
      state.snapshots[ObjectIdentifier(snapshot)] = snapshot
      return snapshot
    }
  }

  /// Ends the use of a snapshot.
  func close(_ snapshot: IterationSnapshot) {
    state.withLock { _ = $0.snapshots.removeValue(forKey: ObjectIdentifier(snapshot)) }
    snapshot.close()
  }

  /// Closes all snapshots. From then on there are no others.
  func closeAll() {
    let snapshots = state.withLock { state in
      state.isClosed = true
      defer { state.snapshots = [:] }
      return state.snapshots.values
    }
    for snapshot in snapshots { snapshot.close() }
  }
}

/// A snapshot that an iteration reads from, and that a shutdown may close between two reads.
final class IterationSnapshot: Sendable {
  private let snapshot: Monitor<(any StorageSnapshot)?>

  fileprivate init(_ engine: any StorageEngine) {
    snapshot = Monitor(engine.makeSnapshot(for: .iteration))
  }

  /// Calls `body` with the view of the snapshot.
  /// - Throws: `WorkspaceError.shutDown` if it was closed; the errors of `body`.
  func reading<R: ~Copyable>(_ body: (any StorageReader) throws -> R) throws -> R {
    snapshot.lock()
    defer { snapshot.unlock() }
    guard let snapshot = snapshot.state else { throw WorkspaceError.shutDown }
    return try snapshot.read(body)
  }

  /// See `StorageSnapshot.confirm`.
  func confirm() throws {
    snapshot.lock()
    defer { snapshot.unlock() }
    try snapshot.state?.confirm()
  }

  fileprivate func close() {
    snapshot.lock()
    defer { snapshot.unlock() }
    snapshot.state.take()?.close()
  }
}
