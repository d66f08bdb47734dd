// Ending: how a transaction ended, for the one caller who waits for that.
//
// It is told once. A caller who asks later gets the answer at once, which is the common case: who
// runs a transaction on its own thread mostly commits it there, too. Otherwise the thread waits, or
// the task.

import Dispatch
import Platform

final class Ending: Sendable {
  private enum State {
    case open
    case awaited(@Sendable () -> Void)
    case known((any Error)?)
  }

  private let state = Mutex(State.open)

  /// Tells how it ended.
  /// - Parameter failure: Why it is not committed; nil if it is.
  func tell(_ failure: (any Error)?) {
    let waiting = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state = .known(failure) }
      if case .awaited(let waiting) = state { return waiting }
      return nil
    }
    waiting?()
  }

  /// Whether it was told, so that asking waits for nothing.
  var isKnown: Bool { state.withLock { if case .known = $0 { true } else { false } } }

  /// Waits on this thread until it was told.
  func wait() {
    if isKnown { return }
    let told = DispatchSemaphore(value: 0)
    whenKnown { told.signal() }
    told.wait()
  }

  /// Waits without a thread.
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

  /// What was told.
  /// - Throws: Why it is not committed.
  func check() throws {
    let failure = state.withLock { state -> (any Error)? in
      guard case .known(let failure) = state else {
        preconditionFailure("an ending was asked for before it was known")
      }
      return failure
    }
    if let failure { throw failure }
  }
}
