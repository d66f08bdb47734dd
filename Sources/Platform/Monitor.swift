// Monitor: a lock with a condition to wait for, and the state that it guards.
//
// `Mutex` cannot wait until its state changes. This can, like a Java monitor: a thread that holds
// the lock calls `wait`, which releases the lock until another thread signals a change. Inlinable,
// because other modules use it for each transaction.

/// State behind a lock that threads can wait with.
///
/// `state` is used between `lock` and `unlock` only, which debug builds verify.
///
/// Unchecked: the compiler cannot know that the state is only used while the lock is held.
@usableFromInline
package final class Monitor<State>: @unchecked Sendable {
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let condition: UnsafeMutablePointer<pthread_cond_t>
  @usableFromInline var content: Content
  #if DEBUG
    @usableFromInline let owner = Atomic<UInt>(0)
  #endif

  /// An empty state has no address of its own: ThreadSanitizer mistakes it for the head of the
  /// object, which is read without a lock.
  @usableFromInline
  struct Content {
    @usableFromInline var state: State
    @usableFromInline let place: UInt8 = 0

    @inlinable
    init(_ state: consuming State) { self.state = state }
  }

  @inlinable
  package init(_ state: consuming sending State) {
    content = Content(state)
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Without attributes, neither call can fail, nor with the one of a clock.
    pthread_mutex_init(mutex, nil)
    #if canImport(Darwin)
      pthread_cond_init(condition, nil)
    #else
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      // The time of day may jump.
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_cond_init(condition, &attributes)
      pthread_condattr_destroy(&attributes)
    #endif
  }

  @inlinable
  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// The state. The calling thread holds the lock.
  @inlinable
  package var state: State {
    _read {
      requireLock()
      yield content.state
    }
    _modify {
      requireLock()
      yield &content.state
    }
  }

  @inlinable
  package func lock() {
    pthread_mutex_lock(mutex)
    isHeld(true)
  }

  /// Takes the lock if that is possible without waiting.
  @inlinable
  package func lockIfAvailable() -> Bool {
    guard pthread_mutex_trylock(mutex) == 0 else { return false }
    isHeld(true)
    return true
  }

  @inlinable
  package func unlock() {
    isHeld(false)
    pthread_mutex_unlock(mutex)
  }

  /// Releases the lock until another thread signals, and takes it again. It may return without a
  /// signal, so callers test the state in a loop.
  @inlinable
  package func wait() {
    isHeld(false)
    pthread_cond_wait(condition, mutex)
    isHeld(true)
  }

  /// Waits, but not beyond a time of `MonotonicTime`.
  /// - Returns: False if the time has passed.
  @inlinable
  package func wait(until deadline: UInt64) -> Bool {
    isHeld(false)
    defer { isHeld(true) }
    #if canImport(Darwin)
      let now = MonotonicTime.now
      let time = deadline > now ? deadline - now : 0
    #else
      let time = deadline
    #endif
    var limit = timespec()
    limit.tv_sec = .init(time / 1_000_000_000)
    limit.tv_nsec = .init(time % 1_000_000_000)
    return withUnsafePointer(to: limit) {
      #if canImport(Darwin)
        pthread_cond_timedwait_relative_np(condition, mutex, $0) != ETIMEDOUT
      #else
        pthread_cond_timedwait(condition, mutex, $0) != ETIMEDOUT
      #endif
    }
  }

  /// Wakes one waiting thread.
  @inlinable
  package func signal() { pthread_cond_signal(condition) }

  /// Wakes all waiting threads.
  @inlinable
  package func broadcast() { pthread_cond_broadcast(condition) }

  @inlinable
  func isHeld(_ isHeld: Bool) {
    #if DEBUG
      owner.store(isHeld ? ThreadIdentity.current.number : 0, ordering: .relaxed)
    #endif
  }

  @inlinable
  func requireLock() {
    #if DEBUG
      precondition(
        owner.load(ordering: .relaxed) == ThreadIdentity.current.number,
        "the state of a monitor was used without its lock")
    #endif
  }
}
