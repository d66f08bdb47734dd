// Whose turn it is.
//
// Kept true:
//  - at most one *exclusive* transaction is open: every one that writes, and where LMDB has no lock file every one at all;
//  - a thread that has a transaction open never waits here: a transaction inside of another one joins it (OpenTransactions.swift), and does
//    not wait for itself.

internal import Platform

/// Unchecked, because the compiler cannot know that the state is only touched under the lock.
final class TransactionTable: @unchecked Sendable {
  private let readersAreExclusive: Bool
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  @exclusivity(unchecked) private var hasExclusive = false

  init(readersAreExclusive: Bool) {
    self.readersAreExclusive = readersAreExclusive
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Neither fails without attributes.
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Waits for the turn of an outermost transaction.
  func begin(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    pthread_mutex_lock(lock)
    while hasExclusive { pthread_cond_wait(condition, lock) }
    hasExclusive = true
    pthread_mutex_unlock(lock)
  }

  /// Ends the turn of an outermost transaction.
  func end(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    pthread_mutex_lock(lock)
    hasExclusive = false
    pthread_cond_signal(condition)
    pthread_mutex_unlock(lock)
  }

  private func isExclusive(readOnly: Bool) -> Bool { !readOnly || readersAreExclusive }
}
