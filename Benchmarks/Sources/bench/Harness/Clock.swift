// Timing a piece of work.

/// Calls `body` and returns how long it took.
@inline(__always)
func time(_ body: () throws -> Void) rethrows -> UInt64 {
  let start = ContinuousClock.now
  try body()
  return nanoseconds(ContinuousClock.now - start)
}

func nanoseconds(_ duration: Duration) -> UInt64 {
  let (seconds, attoseconds) = duration.components
  return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
}
