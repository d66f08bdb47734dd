// The lock that outermost transactions hold while they are open.
//
// Invariants:
//  - At most one *exclusive* transaction is open. Every writer is exclusive. Without LMDB's lock
//    file, every reader is exclusive too.
//  - A thread with an open transaction never waits here: a transaction inside another one joins it
//    (OpenTransactions.swift).

internal import Platform

/// Unchecked: the compiler cannot verify that the state is only accessed with the mutex held.
final class TransactionLock: @unchecked Sendable {
  private let readersAreExclusive: Bool
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  @exclusivity(unchecked) private var hasExclusive = false

  init(readersAreExclusive: Bool) {
    self.readersAreExclusive = readersAreExclusive
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Without attributes, neither call can fail.
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Waits until an outermost transaction may begin.
  func acquire(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    pthread_mutex_lock(mutex)
    while hasExclusive { pthread_cond_wait(condition, mutex) }
    hasExclusive = true
    pthread_mutex_unlock(mutex)
  }

  /// Releases the lock when an outermost transaction has ended.
  func release(readOnly: Bool) {
    guard isExclusive(readOnly: readOnly) else { return }
    pthread_mutex_lock(mutex)
    hasExclusive = false
    pthread_cond_signal(condition)
    pthread_mutex_unlock(mutex)
  }

  private func isExclusive(readOnly: Bool) -> Bool { !readOnly || readersAreExclusive }
}
