// Measures the time of a piece of work.

/// Calls `body` and returns its duration.
@inline(__always)
func time(_ body: () throws -> Void) rethrows -> UInt64 {
  let start = ContinuousClock.now
  try body()
  return nanoseconds(ContinuousClock.now - start)
}

/// Times a transaction: until its commit, and until the end of the checkpoint after it.
/// - Parameters:
///   - body: Returns with the commit.
///   - settle: Returns when the checkpoint has ended.
func timeToCommitAndSettle(
  _ body: () throws -> Void, settle: () throws -> Void
) rethrows -> (commit: UInt64, settled: UInt64) {
  let start = ContinuousClock.now
  try body()
  let commit = ContinuousClock.now
  try settle()
  return (nanoseconds(commit - start), nanoseconds(ContinuousClock.now - start))
}

func nanoseconds(_ duration: Duration) -> UInt64 {
  let (seconds, attoseconds) = duration.components
  return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
}
