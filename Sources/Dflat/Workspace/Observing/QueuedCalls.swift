// QueuedCalls: calls of a subscription's handler on a queue of the program.
//
// The workspace never waits for the program's queue. What the handler gets are states: of several
// that come before the queue runs, it gets the newest only, in one call. A call that is still
// queued when the subscription is cancelled does not begin.

import Dispatch
import Platform

/// Calls of a handler that are queued: at most one at a time.
final class QueuedCalls<State: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let handler: @Sendable (State) -> Void
  private let gate = CallGate()
  /// What the queued call will get; nil if none is queued.
  private let newest = Mutex<State?>(nil)

  init(on queue: DispatchQueue, _ handler: @escaping @Sendable (State) -> Void) {
    // A serial queue keeps the order if the program's queue is concurrent.
    self.queue = DispatchQueue(label: "dflat.subscription", target: queue)
    self.handler = handler
  }

  init(onMainActor handler: @escaping @MainActor @Sendable (State) -> Void) {
    queue = .main
    self.handler = { state in MainActor.assumeIsolated { handler(state) } }
  }

  /// Takes a newer state.
  func add(_ state: State) {
    let isFirst = newest.withLock { newest in
      defer { newest = state }
      return newest == nil
    }
    // A call that is already queued gets the newest state.
    if isFirst { queue.async { [self] in call() } }
  }

  private func call() {
    guard let state = newest.withLock({ $0.take() }), gate.enter() else { return }
    handler(state)
    _ = gate.leave()
  }

  func close() { _ = gate.close() }

  /// The subscription that the program gets.
  /// - Parameter source: The source of the states.
  func subscription(_ source: any WorkspaceSubscription) -> any WorkspaceSubscription {
    QueuedSubscription(calls: self, source: source)
  }
}

/// Releasing it cancels it.
private final class QueuedSubscription<State: Sendable>: WorkspaceSubscription {
  private let calls: QueuedCalls<State>
  private let source: any WorkspaceSubscription

  init(calls: QueuedCalls<State>, source: any WorkspaceSubscription) {
    self.calls = calls
    self.source = source
  }

  deinit { cancel() }

  func cancel() {
    calls.close()
    source.cancel()
  }
}
