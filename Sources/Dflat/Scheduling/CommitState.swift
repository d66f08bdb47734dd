// CommitState: which transaction writes, which wait, and what waits for its commit.

import Dispatch
import Platform

/// The state of a write coordinator, accessed under its lock only.
struct CommitState {
  /// Whether a transaction holds the write lease.
  var isTaken = false
  /// The waiting transactions. Signalling a semaphore passes the lease to its owner.
  var waiting = Fifo<DispatchSemaphore>()
  /// The group that is open, or that the lease holder is about to commit.
  var group: CommitGroup?
  var hasAlarm = false

  var isIdle: Bool { !isTaken && group == nil }

  mutating func takeLeaseIfIdle() -> Bool {
    guard isIdle else { return false }
    isTaken = true
    return true
  }

  /// Passes the write lease to the transaction that has waited longest, or frees it.
  mutating func passLease() {
    if let next = waiting.popFirst() { next.signal() } else { isTaken = false }
  }
}

extension StorageError {
  static let givenUp = StorageError(
    .other, message: "after an error the storage rolled back everything that was not committed")
}
