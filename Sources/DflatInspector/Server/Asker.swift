// Asker: the client that a request is answered for, as long as it waits.

import Platform

/// The client of a request that is being answered. It is gone once it has closed its connection, or
/// the server ends: then the answer need not be found.
final class Asker: Sendable {
  private struct State {
    var isGone = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Whether it waits no more.
  var isGone: Bool { state.withLock { $0.isGone } }

  /// Has something done once the asker is gone; at once if it is already. Only the last action
  /// counts.
  func whenGone(_ action: @escaping @Sendable () -> Void) {
    let isGone = state.withLock { state -> Bool in
      if !state.isGone { state.action = action }
      return state.isGone
    }
    if isGone { action() }
  }

  /// Records that the asker is gone. Calling it again has no effect.
  func leave() {
    let action = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state.action = nil }
      state.isGone = true
      return state.action
    }
    action?()
  }
}
