// Which transactions are open on which threads, and whose turn it is.
//
// Kept true:
//  - at most one *exclusive* transaction is open: every one that writes, and where LMDB has no lock file every one at all;
//  - a thread that has a transaction open is given that one, and never waits here. So a transaction inside of another one joins
//    it, and does not wait for itself.

internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Unchecked, because the compiler cannot know that the state is only touched under the lock, and that a context is only
/// handed to the thread that it belongs to.
@usableFromInline
final class TransactionTable: @unchecked Sendable {
  private struct Entry {
    let thread: UInt
    let context: TransactionContext?
  }

  private let readersAreExclusive: Bool
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// How many entries there are. A thread sees its own, and needs no lock to see that there are none.
  private let entryCount = Atomic<Int>(0)
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

  /// The innermost transaction that is open on this thread.
  func current() -> TransactionContext? {
    if entryCount.load(ordering: .relaxed) == 0 { return nil }
    let thread = currentThread()
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return entries.last { $0.thread == thread }?.context
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

  /// Runs a closure with a transaction that is the innermost one of this thread meanwhile.
  func withOpen<T>(
    _ context: TransactionContext, _ body: (TransactionContext) throws -> sending T
  ) rethrows -> sending T {
    let thread = currentThread()
    pthread_mutex_lock(lock)
    entries.append(Entry(thread: thread, context: context))
    entryCount.store(entries.count, ordering: .relaxed)
    pthread_mutex_unlock(lock)
    defer {
      pthread_mutex_lock(lock)
      if let index = entries.lastIndex(where: { $0.thread == thread }) { entries.remove(at: index) }
      entryCount.store(entries.count, ordering: .relaxed)
      pthread_mutex_unlock(lock)
    }
    return try body(context)
  }

  private func isExclusive(readOnly: Bool) -> Bool { !readOnly || readersAreExclusive }
}

/// A number that tells threads apart while they live.
func currentThread() -> UInt {
  #if canImport(Glibc) || canImport(Musl)
    UInt(pthread_self())
  #else
    UInt(bitPattern: pthread_self())
  #endif
}
