// StopSignal: ends a loop that has no end of its own, such as a watch.

import Dispatch
import Platform

/// Ends a watch, or a check, from another thread, or from the handler of a signal source.
public final class StopSignal: Sendable {
  private let isStopped = Atomic(false)
  private let wake = DispatchSemaphore(value: 0)

  /// Creates a signal that was not given.
  public init() {}

  /// Gives the signal. What waits for it ends soon.
  public func stop() {
    isStopped.store(true, ordering: .releasing)
    wake.signal()
  }

  /// Whether the signal was given.
  public var isGiven: Bool { isStopped.load(ordering: .acquiring) }

  /// Waits for the signal, on one thread.
  /// - Parameter milliseconds: How long to wait at most.
  /// - Returns: Whether it was given.
  public func wait(milliseconds: Int) -> Bool {
    if isGiven { return true }
    _ = wake.wait(timeout: .now() + .milliseconds(milliseconds))
    return isGiven
  }
}
