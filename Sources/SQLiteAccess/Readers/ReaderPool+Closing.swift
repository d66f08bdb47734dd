// Closing the readers of a pool: those that have been idle for long, and all of them.

import Dispatch
import Platform

extension ReaderPool {
  /// Closes readers that have been idle for at least `age`.
  ///
  /// The pool does so by itself after ``idleLifetime``. Call this when memory is short.
  ///
  /// - Returns: How many were closed.
  @discardableResult
  public func closeIdle(olderThan age: Duration = .zero) -> Int {
    let closed = change { $0.removeIdle(olderThan: MonotonicTime.nanoseconds(age)) }
    close(aged: closed)
    return closed.count
  }

  /// Closes idle readers over time. The timer does not retain the pool.
  func setTimer(after nanoseconds: UInt64) {
    // Slightly late, because the clock counts in steps of some milliseconds.
    let slack: UInt64 = 10_000_000
    let delay = DispatchTimeInterval.nanoseconds(
      Int(clamping: min(nanoseconds, .max - slack) + slack))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) { [weak self] in
      self?.closeAged()
    }
  }

  private func closeAged() {
    let (aged, next) = change { state in
      let aged = state.removeIdle(olderThan: lifetimeNanoseconds)
      let next = state.idle.first.map {
        lifetimeNanoseconds - min(MonotonicTime.now &- $0.idleSince, lifetimeNanoseconds)
      }
      state.isTimerSet = next != nil
      return (aged, next)
    }
    close(aged: aged)
    if let next { setTimer(after: next) }
  }

  private func close(aged: [PooledReader]) {
    for reader in aged { reader.close() }
    if openCount == 0 { readLock?.rest() }
  }

  /// Closes the pool: refuses new use, ends all waits with an error, closes idle readers, and waits
  /// until all other readers are returned. A second call does nothing.
  ///
  /// Calling it inside ``withReader(beyondLimit:_:)`` is a programmer error, because it would wait
  /// for itself. A thread that holds a ``ReaderLease`` deadlocks, too, which cannot be detected:
  /// end the lease first.
  public func close() {
    let thread = ThreadIdentity.current
    let semaphore = DispatchSemaphore(value: 0)
    let (queue, idle, mustWait) = change { state in
      precondition(
        !state.isInside(thread),
        "ReaderPool.close() was called inside withReader, and would wait for itself")
      state.isClosed = true
      let queue = state.queue.removeAll()
      let idle = state.removeIdle(olderThan: 0)
      let mustWait = !state.all.isEmpty
      if mustWait { state.closers.append(semaphore) }
      return (queue, idle, mustWait)
    }
    for waiter in queue { Handover(waiter: waiter, outcome: .closed).perform() }
    for reader in idle { reader.close() }
    if mustWait { semaphore.wait() }
    readLock?.close()
  }
}
