// RetryPauses: how long a transaction waits before it runs again after a conflict.
//
// Two transactions that have met once would meet again if both ran again at once. So from the
// second conflict on each waits for a random time, which may be longer after each conflict.

import Platform

/// The pauses between the runs of one transaction.
struct RetryPauses {
  private var conflicts = 0
  /// Whether there was a conflict.
  var isRepeated: Bool { conflicts > 0 }

  /// The pause after another conflict, less than a tenth of a second; nil for none.
  mutating func next() -> Duration? {
    conflicts += 1
    if conflicts == 1 { return nil }
    return .microseconds(Int.random(in: 0...(1000 << min(conflicts - 1, 6))))
  }

  /// Waits on the calling thread after another conflict.
  mutating func take() {
    if let pause = next() { usleep(UInt32(pause.components.attoseconds / 1_000_000_000_000)) }
  }
}
