// Identifies the running thread. Inlinable, because each transaction and each read calls it.

/// The identity of a thread, comparable as long as the thread lives.
@usableFromInline
package struct ThreadIdentity: Hashable, Sendable {
  /// Never 0.
  @usableFromInline package let number: UInt

  @inlinable
  init(number: UInt) { self.number = number }

  /// The calling thread's.
  @inlinable package static var current: ThreadIdentity {
    #if canImport(Darwin)
      ThreadIdentity(number: UInt(bitPattern: pthread_self()))
    #else
      ThreadIdentity(number: UInt(bitPattern: Int(bitPattern: pthread_self())))
    #endif
  }

  @inlinable
  package static func == (left: ThreadIdentity, right: ThreadIdentity) -> Bool {
    left.number == right.number
  }
}

/// How many processors are online; at least 1.
package func processorCount() -> Int {
  max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
}
