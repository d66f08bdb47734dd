// What the platforms name differently: the current thread, a cheap clock, the number of processors.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Which thread this is. Comparable while the thread lives.
struct ThreadIdentity: Hashable, Sendable {
  private let number: UInt

  static var current: ThreadIdentity {
    #if canImport(Glibc) || canImport(Musl)
      ThreadIdentity(number: UInt(bitPattern: Int(bitPattern: pthread_self())))
    #else
      ThreadIdentity(number: UInt(bitPattern: pthread_self()))
    #endif
  }
}

/// A clock that never goes back, cheap to read and precise to some milliseconds.
enum MonotonicTime {
  /// Nanoseconds since some moment.
  static var now: UInt64 {
    #if canImport(Glibc) || canImport(Musl)
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
      return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    #else
      return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
    #endif
  }

  /// A duration in nanoseconds; 0 if it is negative.
  static func nanoseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard duration > .zero else { return 0 }
    let (product, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    return isTooLong ? .max : product &+ UInt64(attoseconds / 1_000_000_000)
  }
}

/// How many processors are at work.
func processorCount() -> Int {
  max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
