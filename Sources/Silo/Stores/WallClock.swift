// WallClock: the time of day. It is what may be written into a store, and it may be wrong.
//
// A device's clock may be years ahead or behind, and jump when it is corrected. So:
//
//  - what lasts within a process (waits, timers, the time since a use) is measured with
//    `ContinuousClock`, which never jumps;
//  - a stored time that is further in the future than it can be was written while the clock was
//    ahead, and counts for nothing.

import Foundation
import Platform

final class WallClock: Sendable {
  private let source = Mutex<(@Sendable () -> Date)?>(nil)

  /// The present time of day.
  var now: Date { source.withLock(\.self)?() ?? Date() }

  /// Replaces the system's clock. For tests.
  func set(_ clock: @escaping @Sendable () -> Date) { source.withLock { $0 = clock } }
}

/// A wait until a time of day, which ends in time also if the clock is set back meanwhile.
struct TimedWait: Sendable {
  private let clock: WallClock
  private let time: Date
  private let longest: TimeInterval
  private let start = ContinuousClock.now

  /// A wait that begins now.
  /// - Parameters:
  ///   - time: When it ends by the time of day.
  ///   - longest: How many seconds it takes at most.
  init(_ clock: WallClock, time: Date, longest: TimeInterval) {
    self.clock = clock
    self.time = time
    self.longest = min(longest, time.timeIntervalSince(clock.now))
  }

  /// How many seconds are left; 0 or less if it is over.
  var rest: TimeInterval {
    min(time.timeIntervalSince(clock.now), longest - (.now - start) / .seconds(1))
  }
}
