// CoalescedValue: a value that follows the data and changes on a queue of the program's choice.
//
// Of several values that come before the queue runs, only the newest is shown.

import Dispatch
import Platform

/// What an observable object shows.
final class CoalescedValue<Value: Sendable>: Sendable {
  private struct State {
    var shown: Value
    /// The value to show, once the queue runs the update.
    var newest: Value?
    var subscription: (any WorkspaceSubscription)?
  }

  private let state: Mutex<State>
  private let queue: DispatchQueue?

  /// - Parameter queue: The queue on which the value changes; nil for the thread that brings it.
  init(_ value: Value, on queue: DispatchQueue?) {
    state = Mutex(State(shown: value))
    self.queue = queue
  }

  /// The value as it is shown.
  var value: Value { state.withLock { $0.shown } }

  /// Keeps the subscription that brings the values.
  func keep(_ subscription: any WorkspaceSubscription) {
    state.withLock { $0.subscription = subscription }
  }

  /// Takes a newer value.
  /// - Parameter show: Called on the queue; it calls `advance` between its notifications.
  func take(_ value: Value, _ show: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      defer { state.newest = value }
      return state.newest == nil
    }
    // An update that is already queued shows the newest value.
    guard isFirst else { return }
    if let queue { queue.async(execute: show) } else { show() }
  }

  /// Shows the newest value.
  func advance() {
    state.withLock { state in
      if let newest = state.newest.take() { state.shown = newest }
    }
  }
}
