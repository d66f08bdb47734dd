// Time for measuring intervals.

/// A clock that never goes back. Reading it is cheap; its resolution is some milliseconds.
@usableFromInline
package enum MonotonicTime {
  /// Nanoseconds since an unspecified moment.
  @inlinable package static var now: UInt64 {
    #if canImport(Darwin)
      return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
    #else
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #endif
  }

  /// A duration in nanoseconds; 0 if it is negative.
  package static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard duration > .zero else { return 0 }
    let (product, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
  }
}
