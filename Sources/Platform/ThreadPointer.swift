// ThreadPointer: a pointer that each thread has for itself.

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
  }

  /// The pointer of the running thread.
  package var value: UnsafeMutableRawPointer? {
    get { pthread_getspecific(key) }
    nonmutating set { pthread_setspecific(key, newValue) }
  }
}
