// ThreadPointer: a pointer that each thread has for itself, and all such pointers of a thread.

/// A pointer of the running thread; nil in a thread that has not set it.
///
/// There are few such places in a process, so they are static.
package struct ThreadPointer: Sendable {
  private let key: pthread_key_t

  /// Traps if the process has no thread-local storage left.
  package init() {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-local storage is left in this process")
    self.key = key
    ThreadPointers.include(key)
  }

  /// The pointer of the running thread.
  package var value: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}

/// The pointers that a thread has for itself, for another thread that acts for it.
package struct ThreadPointers {
  private static let keys = Mutex<[pthread_key_t]>([])

  /// Includes the pointers of a key that is no `ThreadPointer`.
  package static func include(_ key: pthread_key_t) { keys.withLock { $0.append(key) } }

  private let pointers: [(key: pthread_key_t, pointer: UnsafeMutableRawPointer)]

  /// Those of the running thread.
  package init() {
    pointers = Self.keys.withLock(\.self).compactMap { key in
      pthread_getspecific(key).map { (key, $0) }
    }
  }

  /// Calls `body` with these pointers in place of the running thread's own.
  package func during(_ body: () -> Void) {
    let own = pointers.map { (key: $0.key, pointer: pthread_getspecific($0.key)) }
    for (key, pointer) in pointers { pthread_setspecific(key, pointer) }
    body()
    for (key, pointer) in own { pthread_setspecific(key, pointer) }
  }
}
