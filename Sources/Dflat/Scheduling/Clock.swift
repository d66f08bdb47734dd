// Clock: the order of commits as a number.

import Platform

/// A logical clock: every committed transaction advances it.
final class Clock: Sendable {
  private let value = Atomic<Int64>(1)

  var now: Int64 { value.load(ordering: .acquiring) }

  /// - Returns: The new value.
  func advance() -> Int64 { value.add(1, ordering: .acquiringAndReleasing).newValue }
}
