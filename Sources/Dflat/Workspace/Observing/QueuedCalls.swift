// QueuedCalls: calls of a subscription's handler on a queue of the program.
//
// The workspace enqueues each call of a handler at once and in order, one job for each call, and
// never waits for the program's queue. A call that is still queued when the subscription is
// cancelled does not begin.

import Dispatch

/// Calls of a handler that are queued.
final class QueuedCalls<Event: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let handler: @Sendable (Event) -> Void
  private let gate = CallGate()

  init(on queue: DispatchQueue, _ handler: @escaping @Sendable (Event) -> Void) {
    // A serial queue keeps the order if the program's queue is concurrent.
    self.queue = DispatchQueue(label: "dflat.subscription", target: queue)
    self.handler = handler
  }

  init(onMainActor handler: @escaping @MainActor @Sendable (Event) -> Void) {
    queue = .main
    self.handler = { event in MainActor.assumeIsolated { handler(event) } }
  }

  func add(_ event: Event) {
    queue.async { [self] in
      guard gate.enter() else { return }
      handler(event)
      _ = gate.leave()
    }
  }

  func close() { _ = gate.close() }

  /// The subscription that the program gets.
  /// - Parameter source: The source of the events.
  func subscription(_ source: any WorkspaceSubscription) -> any WorkspaceSubscription {
    QueuedSubscription(calls: self, source: source)
  }
}

/// Releasing it cancels it.
private final class QueuedSubscription<Event: Sendable>: WorkspaceSubscription {
  private let calls: QueuedCalls<Event>
  private let source: any WorkspaceSubscription

  init(calls: QueuedCalls<Event>, source: any WorkspaceSubscription) {
    self.calls = calls
    self.source = source
  }

  deinit { cancel() }

  func cancel() {
    calls.close()
    source.cancel()
  }
}
