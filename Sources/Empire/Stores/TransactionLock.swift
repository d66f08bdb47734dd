// The lock that outermost transactions hold while they are open.
//
// Invariants:
//  - At most one *exclusive* transaction is open. Every writer is exclusive. Without LMDB's lock
//    file, every reader is exclusive too.
//  - A thread with an open transaction never waits here: a transaction inside another one joins it
//    (OpenTransactions.swift).

internal import Platform

final class TransactionLock: Sendable {
  private let readersAreExclusive: Bool
  /// Whether an exclusive transaction is open.
  private let hasExclusive = Monitor(false)

  init(readersAreExclusive: Bool) {
    self.readersAreExclusive = readersAreExclusive
  }

  /// Waits until an outermost transaction may begin.
  func acquire(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    hasExclusive.lock()
    while hasExclusive.state { hasExclusive.wait() }
    hasExclusive.state = true
    hasExclusive.unlock()
  }

  /// Releases the lock when an outermost transaction has ended.
  func release(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    hasExclusive.lock()
    hasExclusive.state = false
    hasExclusive.signal()
    hasExclusive.unlock()
  }

  private func isExclusive(readOnly: Bool) -> Bool { !readOnly || readersAreExclusive }
}
