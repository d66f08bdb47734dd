// RetryPauses: whether, and after which pause, a transaction runs again after a conflict.
//
// Two transactions that have met once would meet again if both ran again at once. So from the
// second conflict on each waits for a random time, which may be longer after each conflict.

import Platform

/// The runs of one transaction, and the pauses between them.
struct RetryPauses {
  /// How often a transaction runs at least, if its caller does not say how often at most.
  static let usualAttempts = 8

  private(set) var conflicts = 0

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

/// How often a transaction runs: a number that its caller has chosen, or until a time is over.
struct RunLimit {
  private let attempts: Int?
  private let patience: UInt64
  private let start = MonotonicTime.now
  private var runs = 0

  /// - Parameters:
  ///   - attempts: How often it runs at most; nil for the usual number, and for some time.
  ///   - patience: That time.
  init(_ attempts: Int?, _ patience: Duration) {
    self.attempts = attempts
    self.patience = MonotonicTime.nanoseconds(patience)
  }

  /// Counts a run that begins.
  mutating func begin() { runs += 1 }

  /// Takes the last run back, which another transaction of the same workspace has ended.
  mutating func takeBack() { runs -= 1 }

  /// Whether the transaction may run once more.
  var mayRepeat: Bool {
    if let attempts { return runs < attempts }
    return runs < RetryPauses.usualAttempts || MonotonicTime.now - start < patience
  }
}
