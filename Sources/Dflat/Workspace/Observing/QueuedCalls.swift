// QueuedCalls: calls of a subscription's handler on a queue of the program.
//
// The workspace never waits for the program's queue. What the handler gets are states: of several
// that come before the queue runs, it gets the newest only, in one call. A call that is still
// queued when the subscription is cancelled does not begin.

public import Dispatch
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
  /// - Parameter follow: Subscribes a handler to the states.
  func subscription(
    _ follow: (@escaping @Sendable (State) -> Void) -> any WorkspaceSubscription
  ) -> any WorkspaceSubscription {
    QueuedSubscription(calls: self, source: follow { self.add($0) })
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

extension WorkspaceCore {
  /// Subscribes a handler that runs on a queue of the program.
  /// - Parameters:
  ///   - queue: The queue; nil for the workspace's.
  ///   - handler: The handler.
  ///   - follow: Subscribes a handler to the states.
  @usableFromInline
  func subscribe<State: Sendable>(
    on queue: DispatchQueue?, _ handler: @escaping @Sendable (State) -> Void,
    _ follow: (@escaping @Sendable (State) -> Void) -> any WorkspaceSubscription
  ) -> any WorkspaceSubscription {
    guard let queue else { return follow(handler) }
    return QueuedCalls(on: queue, handler).subscription(follow)
  }
}
