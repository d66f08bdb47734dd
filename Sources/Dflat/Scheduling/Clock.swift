// Clock: the order of commits as a number.

import Platform

/// A logical clock: every committed transaction advances it.
final class Clock: Sendable {
  private let value = Atomic<Int64>(1)
  /// The last moment that was taken.
  private let taken = Atomic<Int64>(0)

  var now: Int64 { value.load(ordering: .acquiring) }

  /// - Returns: The new value.
  func advance() -> Int64 { value.add(1, ordering: .acquiringAndReleasing).newValue }

  /// The present value, as the beginning of a transaction: no other transaction gets it.
  func takeMoment() -> Int64 {
    while true {
      let last = taken.load(ordering: .relaxed)
      let now = now
      if now <= last {
        _ = advance()
      } else if taken.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged {
        return now
      }
    }
  }
}
