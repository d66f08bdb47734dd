// What a piece of work costs, however busy the machine is.

import Foundation

/// The time for which the calling thread has used a processor so far, in nanoseconds. Time in which
/// it waited, or others ran, does not count.
public func processorTime() -> UInt64 {
  var time = timespec()
  precondition(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "there is no such clock")
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
