// ExternalChangeMonitor: external changes, by other workspaces and processes on the same data.
//
// The storage reports that another connection has committed, but not what. So everything that is
// observed is read again, at its position in the order of deliveries, and compared: differences are
// delivered like any change. This writes nothing, and other programs need not cooperate.

import Dispatch
import Platform

/// Checks periodically whether other connections have committed.
final class ExternalChangeMonitor: Sendable {
  private struct State {
    var timer: (any DispatchSourceTimer)?
    /// The engine's commit token when everything was last read; nil if it never was.
    var seen: CommitToken?
    var isReading = false
  }

  private let state = Mutex(State())

  /// - Parameter interval: The time between two checks; nil to stop checking.
  func look(every interval: DispatchTimeInterval?, in workspace: WorkspaceCore) {
    // Under the lock: no handler runs in these calls.
    state.withLock { state in
      state.timer?.cancel()
      state.timer = nil
      guard let interval else { return }
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.setEventHandler { [weak self, weak workspace] in
        guard let self, let workspace else { return }
        self.look(in: workspace)
      }
      timer.schedule(deadline: .now() + interval, repeating: interval)
      timer.resume()
      state.timer = timer
    }
  }

  /// Reads everything again if other connections have committed since it was last read.
  func look(in workspace: WorkspaceCore) {
    guard let engine = workspace.sharedEngine else { return }
    // The engine stays open as long as an accepted operation runs.
    workspace.accepted.enter()
    defer { workspace.accepted.leave() }
    if workspace.transactions.isClosed { return }
    do {
      let token = try engine.currentToken() ?? engine.lastKnownToken
      let isNew = state.withLock { state in
        if state.isReading || state.seen == token { return false }
        state.isReading = true
        state.seen = token
        return true
      }
      guard isNew else { return }
      workspace.refresh { [weak self] isComplete in
        self?.state.withLock { state in
          state.isReading = false
          // What could not be read is read again at the next check.
          if !isComplete { state.seen = nil }
        }
      }
    } catch let error as StorageError where error.cause == .cannotOpen {
      // The file does not exist yet.
    } catch {
      workspace.reportReading(error)
    }
  }

  deinit {
    state.withLock { $0.timer?.cancel() }
  }
}

extension WorkspaceCore {
  /// Reads everything that is observed again.
  /// - Parameter completion: Called when all observers were notified, with whether all was read.
  func refresh(_ completion: @escaping @Sendable (_ isComplete: Bool) -> Void) {
    // Every earlier result may be out of date, whenever it is subscribed to.
    observers.markPossiblyChanged(at: clock.advance())
    let all = DispatchGroup()
    let hasFailed = Atomic(false)
    for type in observers.observed {
      all.enter()
      let isAccepted = atDelivery(of: [type.schema]) { workspace in
        if type.refresh(in: workspace) { hasFailed.store(true, ordering: .relaxed) }
        all.leave()
      }
      if !isAccepted { all.leave() }
    }
    all.notify(queue: .global()) { [self] in
      // What depends on several types is read behind these jobs.
      var linked: [TypeSet] = []
      for type in observers.observed {
        if let types = type.linkedTypes, !linked.contains(types) { linked.append(types) }
      }
      let joint = DispatchGroup()
      for types in linked {
        joint.enter()
        if !atDelivery(of: types, { _ in joint.leave() }) { joint.leave() }
      }
      joint.notify(queue: .global()) { completion(!hasFailed.load(ordering: .relaxed)) }
    }
  }
}

extension Workspace {
  /// Notifies observers of changes by other workspaces and processes on the same data.
  ///
  /// Everything that is observed is read again and compared. Observers of data that differ are
  /// notified as of any change. That costs as much as fetching all of it.
  ///
  /// Returns when all handlers have run.
  public func refresh() async {
    let core = _core
    await withCheckedContinuation { continuation in
      core.refresh { _ in continuation.resume() }
    }
  }

  /// Sets how often to check for changes by other workspaces and processes on the same data. The
  /// default is never.
  ///
  /// A check costs a few microseconds. Only if another connection has committed anything,
  /// everything that is observed is read again as by `refresh()`; so this is for programs that
  /// share their data with few writers. Several changes may be delivered as one, and changes that
  /// are undone between two checks are not seen.
  ///
  /// - Parameter interval: The time between two checks, at least a millisecond; nil for never.
  public func lookForOtherWriters(every interval: Duration?) {
    let core = _core
    core.otherWriters.look(
      every: interval.map { interval in
        let (seconds, attoseconds) = interval.components
        let nanoseconds = Double(seconds) * 1e9 + Double(attoseconds) / 1e9
        return .nanoseconds(Int(max(1e6, min(nanoseconds, 1e17))))
      }, in: core)
  }
}
