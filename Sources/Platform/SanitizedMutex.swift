// Replaces `Mutex` in builds with ThreadSanitizer, and only there.
//
// The sanitizer does not understand the standard library's mutex, which on Linux is built on system
// calls, and reports every access to protected data as a race. It understands pthread mutexes. So
//
//     swift test --sanitize=thread -Xswiftc -DSANITIZE_THREAD
//
// tests our own code with a pthread mutex, through a type with the same name and interface. A file
// that imports this target, and not `Synchronization` itself, gets it.

#if SANITIZE_THREAD
  /// The part of `Synchronization.Mutex` that this package uses.
  ///
  /// Unchecked, because the compiler cannot know that the memory is only accessed under the lock.
  package final class Mutex<Value>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var content: Content

    /// An empty value has no address of its own: the sanitizer mistakes it for the head of the
    /// object, which is read without a lock.
    private struct Content {
      var value: Value
      let place: UInt8 = 0
    }

    package init(_ value: consuming sending Value) {
      content = Content(value: value)
      lock = .allocate(capacity: 1)
      lock.initialize(to: pthread_mutex_t())
      pthread_mutex_init(lock, nil)
    }

    deinit {
      pthread_mutex_destroy(lock)
      lock.deallocate()
    }

    package func withLock<R, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      return try body(&content.value)
    }

    package func withLockIfAvailable<R, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R? {
      guard pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { pthread_mutex_unlock(lock) }
      return try body(&content.value)
    }
  }
#endif
