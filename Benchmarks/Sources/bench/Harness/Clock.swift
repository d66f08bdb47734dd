// Measures the time of a piece of work.

import Foundation

/// Calls `body` and returns its duration.
@inline(__always)
func time(_ body: () throws -> Void) rethrows -> UInt64 {
  let watch = Stopwatch()
  try body()
  return watch.stop()
}

/// Measures until it is stopped, and has instructions counted meanwhile.
struct Stopwatch {
  private let start: ContinuousClock.Instant

  @inline(__always)
  init() {
    Counting.start()
    start = .now
  }

  /// - Returns: The time since the beginning.
  @inline(__always)
  func stop() -> UInt64 {
    let duration = ContinuousClock.now - start
    Counting.stop()
    return nanoseconds(duration)
  }
}

/// What a clock measures.
enum MeasuredClock {
  case wall
  /// The time of the process on all processors, in the system, too.
  case processor
}

/// Calls `body` and returns how long it took by a clock.
func time(_ clock: MeasuredClock, _ body: () throws -> Void) rethrows -> UInt64 {
  let before = processorNanoseconds()
  let duration = try time(body)
  return clock == .wall ? duration : processorNanoseconds() - before
}

private func processorNanoseconds() -> UInt64 {
  var usage = rusage()
  #if canImport(Darwin)
    getrusage(RUSAGE_SELF, &usage)
  #else
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  #endif
  let times = [usage.ru_utime, usage.ru_stime]
  return times.reduce(0) { $0 + UInt64($1.tv_sec) * 1_000_000_000 + UInt64($1.tv_usec) * 1000 }
}

/// Times a transaction: until its commit, and until the end of the checkpoint after it.
/// - Parameters:
///   - body: Returns with the commit.
///   - settle: Returns when the checkpoint has ended.
func timeToCommitAndSettle(
  _ body: () throws -> Void, settle: () throws -> Void
) rethrows -> (commit: UInt64, settled: UInt64) {
  Counting.start()
  let start = ContinuousClock.now
  try body()
  let commit = ContinuousClock.now
  // Instructions are counted until the commit.
  Counting.stop()
  try settle()
  return (nanoseconds(commit - start), nanoseconds(ContinuousClock.now - start))
}

func nanoseconds(_ duration: Duration) -> UInt64 {
  let (seconds, attoseconds) = duration.components
  return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
}
