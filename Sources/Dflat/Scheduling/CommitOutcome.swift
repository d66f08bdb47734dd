// CommitOutcome: the outcome of a transaction, for the one caller that waits for it.
//
// It is set once. In the common case it is known before the caller asks, because a caller that runs
// a transaction on its own thread mostly commits it there, too. Otherwise the calling thread or
// task waits.

import Dispatch
import Platform

final class CommitOutcome: Sendable {
  private enum State {
    case open
    case awaited(@Sendable () -> Void)
    case known((any Error)?)
  }

  private let state = Mutex(State.open)

  /// Sets the outcome.
  /// - Parameter failure: Why the transaction is not committed; nil if it is.
  func notify(_ failure: (any Error)?) {
    let waiting = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state = .known(failure) }
      if case .awaited(let waiting) = state { return waiting }
      return nil
    }
    waiting?()
  }

  /// Whether the outcome is known, so that waiting returns at once.
  var isKnown: Bool { state.withLock { if case .known = $0 { true } else { false } } }

  /// Blocks this thread until the outcome is known.
  func wait() {
    if isKnown { return }
    let told = DispatchSemaphore(value: 0)
    whenKnown { told.signal() }
    told.wait()
  }

  /// Suspends the task until the outcome is known.
  func wait() async {
    if isKnown { return }
    await withCheckedContinuation { continuation in
      whenKnown { continuation.resume() }
    }
  }

  private func whenKnown(_ body: @escaping @Sendable () -> Void) {
    let isKnown = state.withLock { state in
      if case .known = state { return true }
      state = .awaited(body)
      return false
    }
    if isKnown { body() }
  }

  /// Checks the outcome.
  /// - Throws: Why the transaction is not committed.
  func check() throws {
    let failure = state.withLock { state -> (any Error)? in
      guard case .known(let failure) = state else {
        preconditionFailure("an outcome was read before it was known")
      }
      return failure
    }
    if let failure { throw failure }
  }
}
