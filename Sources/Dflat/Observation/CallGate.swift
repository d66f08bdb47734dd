// CallGate: decides whether a handler may still be called, and which thread releases it.
//
// Invariants:
//
//  - no call begins after the gate was closed;
//  - the handler is released exactly once: by the thread that closes the gate, or, if calls are
//    running at that time, by the last of them to end;
//  - no thread waits for another one. So a handler may close its own gate, and closing does not
//    wait for a running call.
//
// Between the atomic operation that counts a call and the call itself nothing can block the thread.

import Platform

struct CallGate: ~Copyable {
  /// Twice the number of running calls, plus 1 once the gate is closed.
  private let word = Atomic<UInt>(0)

  var isClosed: Bool { word.load(ordering: .acquiring) & 1 != 0 }

  /// Announces a call.
  /// - Returns: Whether the call may begin.
  @inline(__always)
  borrowing func enter() -> Bool {
    var known = word.load(ordering: .relaxed)
    while known & 1 == 0 {
      let (isDone, present) = word.weakCompareExchange(
        expected: known, desired: known + 2, ordering: .acquiringAndReleasing)
      if isDone { return true }
      known = present
    }
    return false
  }

  /// Ends a call that had entered.
  /// - Returns: Whether the caller must release the handler.
  @inline(__always)
  borrowing func leave() -> Bool {
    word.subtract(2, ordering: .acquiringAndReleasing).newValue == 1
  }

  /// Closes the gate: no further call begins.
  /// - Returns: Whether this call has closed it, and whether the caller must release the handler.
  borrowing func close() -> (isFirst: Bool, letsGo: Bool) {
    let before = word.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
    return (before & 1 == 0, before == 0)
  }
}
