// A stand-in for `Mutex` in builds with ThreadSanitizer, and in no others.
//
// The sanitizer cannot see the standard library's mutex, which on Linux is made of system calls,
// and reports every use of what it protects as a race. It does see the mutex of pthreads. So
//
//     swift test --sanitize=thread -Xswiftc -DSANITIZE_THREAD
//
// tests our own logic with that one, by a type of the same name and the same use. Links in Dflat and SQLiteDflat lead here.

#if SANITIZE_THREAD
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// The part of `Synchronization.Mutex` that this module uses.
  ///
  /// Unchecked, because the compiler cannot know that the memory is only touched under the lock.
  final class Mutex<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var content: Content

    /// What is empty has no place of its own: the sanitizer takes it for the head of the object, which is read without a lock.
    private struct Content {
      var value: Value
      let place: UInt8 = 0
    }

    init(_ value: Value) {
      content = Content(value: value)
      lock = .allocate(capacity: 1)
      lock.initialize(to: pthread_mutex_t())
      pthread_mutex_init(lock, nil)
    }

    deinit {
      pthread_mutex_destroy(lock)
      lock.deallocate()
    }

    func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      return try body(&content.value)
    }

    func withLockIfAvailable<R, E: Error>(
      _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R? {
      guard pthread_mutex_trylock(lock) == 0 else { return nil }
      defer { pthread_mutex_unlock(lock) }
      return try body(&content.value)
    }
  }
#endif
