// CallGate: whether a handler may still be called, and who lets go of it.
//
// It keeps true:
//
//  - a call that begins after the gate was closed does not begin;
//  - the handler is let go of once: by who closes the gate, or, if calls are running then, by the last of them;
//  - nobody waits for anybody. So a handler may close its own gate, and a call that is running may be outlasted.
//
// Between the word that counts a call and the call itself there is nothing that could make a thread wait.

import Platform

struct CallGate: ~Copyable {
  /// Twice the number of calls that are running, and 1 more once it is closed.
  private let word = Atomic<UInt>(0)

  var isClosed: Bool { word.load(ordering: .acquiring) & 1 != 0 }

  /// A call is about to begin.
  /// - Returns: Whether it may.
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

  /// A call that had entered has ended.
  /// - Returns: Whether the caller is to let go of the handler.
  @inline(__always)
  borrowing func leave() -> Bool {
    word.subtract(2, ordering: .acquiringAndReleasing).newValue == 1
  }

  /// No call begins any more.
  /// - Returns: Whether this call has closed it, and whether the caller is to let go of the handler.
  borrowing func close() -> (isFirst: Bool, letsGo: Bool) {
    let before = word.bitwiseOr(1, ordering: .acquiringAndReleasing).oldValue
    return (before & 1 == 0, before == 0)
  }
}
