// OtherWriters: changes by other workspaces and processes on the same data.
//
// The storage tells that somebody else has committed, not what. So everything that is watched is read again, at its place in the
// order of deliveries, and compared: what differs is told like any change. Nothing is written for this, and other programs need
// not know of it.

import Dispatch
import Platform

/// Looks now and then whether others have committed.
final class OtherWriters: Sendable {
  private struct State {
    var timer: (any DispatchSourceTimer)?
    /// The engine's token when everything was last read; nil if it never was.
    var seen: CommitToken?
    var isReading = false
  }

  /// Unchecked: used under the lock only.
  private struct Guarded: @unchecked Sendable {
    var state = State()
  }

  private let guarded = Mutex(Guarded())

  /// - Parameter interval: How often to look; nil for never again.
  func look(every interval: DispatchTimeInterval?, in workspace: WorkspaceCore) {
    let timer = interval.map { interval in
      let timer = DispatchSource.makeTimerSource(queue: .global())
      timer.setEventHandler { [weak self, weak workspace] in
        guard let self, let workspace else { return }
        self.look(in: workspace)
      }
      timer.schedule(deadline: .now() + interval, repeating: interval)
      return timer
    }
    let unchecked = Unchecked(value: timer)
    let last = guarded.withLock { guarded in
      defer { guarded.state.timer = unchecked.value }
      return Unchecked(value: guarded.state.timer)
    }
    last.value?.cancel()
    timer?.resume()
  }

  /// Unchecked: a timer may be cancelled on any thread.
  private struct Unchecked: @unchecked Sendable {
    let value: (any DispatchSourceTimer)?
  }

  /// Reads everything again if others have committed since it was last read.
  func look(in workspace: WorkspaceCore) {
    guard let engine = workspace.sharedEngine else { return }
    // The engine stays open as long as something that was accepted goes on.
    workspace.accepted.enter()
    defer { workspace.accepted.leave() }
    if workspace.transactions.isClosed { return }
    do {
      let token = try engine.currentToken() ?? engine.lastKnownToken
      let isNew = guarded.withLock { guarded in
        if guarded.state.isReading || guarded.state.seen == token { return false }
        guarded.state.isReading = true
        guarded.state.seen = token
        return true
      }
      guard isNew else { return }
      workspace.refresh { [weak self] in self?.guarded.withLock { $0.state.isReading = false } }
    } catch let error as StorageError where error.cause == .cannotOpen {
      // There is nothing yet.
    } catch {
      workspace.reportReading(error)
    }
  }

  deinit {
    let timer = guarded.withLock { Unchecked(value: $0.state.timer) }
    timer.value?.cancel()
  }
}

extension WorkspaceCore {
  /// Reads again everything that is watched.
  /// - Parameter completion: Called when everybody was told.
  func refresh(_ completion: @escaping @Sendable () -> Void) {
    // What was fetched before may be out of date, whenever it is subscribed to.
    observers.doubt(at: clock.advance())
    let all = DispatchGroup()
    for type in observers.observed {
      all.enter()
      let isAccepted = atDelivery(of: [type.schema]) { workspace in
        type.refresh(in: workspace)
        all.leave()
      }
      if !isAccepted { all.leave() }
    }
    all.notify(queue: .global(), execute: completion)
  }
}

extension Workspace {
  /// Makes changes by other workspaces and processes on the same data known to those who watch.
  ///
  /// Everything that is watched is read again and compared; who watches something that is different now is told, as of any change.
  /// That costs as much as fetching all of it.
  ///
  /// Returns when all handlers have run.
  public func refresh() async {
    let core = _core
    await withCheckedContinuation { continuation in
      core.refresh { continuation.resume() }
    }
  }

  /// Sets how often to look for changes by other workspaces and processes on the same data. At first that is never.
  ///
  /// To look costs a few microseconds. Only if somebody else has committed, whatever it was, everything that is watched is read
  /// again as by `refresh()`; so this is for programs that share their data with few writers. Changes may come together, and
  /// what was done and undone between two looks is not seen.
  ///
  /// - Parameter interval: Time between two looks, at least a millisecond; nil for never.
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
