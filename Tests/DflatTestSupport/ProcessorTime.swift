// The cost of a piece of work, independent of the machine's load.

import Foundation

/// The processor time that the calling thread has used so far, in nanoseconds. Time in which it
/// waited or was preempted does not count.
public func processorTime() -> UInt64 {
  var time = timespec()
  precondition(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "there is no such clock")
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
