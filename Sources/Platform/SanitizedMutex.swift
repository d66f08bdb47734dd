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
  package final class Mutex<Value>: Sendable {
    private let monitor: Monitor<Value>

    package init(_ value: consuming sending Value) {
      monitor = Monitor(value)
    }

    package func withLock<R, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
      monitor.lock()
      defer { monitor.unlock() }
      return try body(&monitor.state)
    }

    package func withLockIfAvailable<R, E: Error>(
      _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R? {
      guard monitor.lockIfAvailable() else { return nil }
      defer { monitor.unlock() }
      return try body(&monitor.state)
    }
  }
#endif
