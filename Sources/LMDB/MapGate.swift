// Who uses an environment's map, so that it can be replaced when nobody does.
//
// LMDB moves the map when its size changes, which must not happen while a transaction of this process reads it. Every outermost
// transaction passes the gate: it enters before it begins and leaves after it has ended. A change of the map waits until all have
// left, and meanwhile new ones wait, except those of threads that are inside already: they may be what the others wait for.
//
// A thread that is inside cannot change the map, and a change gives up after a time, because transactions on other threads
// may wait for the one that changes it. So nothing waits for ever.
//
// Read-only transactions that have ended stay here, reset, to be begun again: that is several times cheaper than a new one. They
// pin no pages.

internal import CLMDB
internal import Platform

/// Unchecked, because the compiler cannot know that the state is only touched under the lock.
final class MapGate: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  /// The threads of all transactions that are inside. One that has several stands here several times.
  @exclusivity(unchecked) private var inside: [ThreadIdentity] = []
  @exclusivity(unchecked) private var isChanging = false
  @exclusivity(unchecked) private var spareReaders: [OpaquePointer] = []

  /// How long a change of the map waits for transactions to end.
  static let patience = 30
  private static let spareReaderLimit = 8

  init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Neither fails without attributes.
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
    inside.reserveCapacity(8)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Lets a transaction in, and hands out a reader that may be renewed, if one is wanted and there is one.
  func enter(reading: Bool) -> OpaquePointer? {
    let thread = ThreadIdentity.current
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while isChanging && !inside.contains(thread) { pthread_cond_wait(condition, lock) }
    inside.append(thread)
    return reading && !spareReaders.isEmpty ? spareReaders.removeLast() : nil
  }

  /// Lets a transaction out that came in on a thread. Keeps a reader that has been reset, or says that it is not wanted.
  func leave(thread: ThreadIdentity, keeping reader: OpaquePointer? = nil) -> Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    guard let index = inside.lastIndex(of: thread) else {
      fatalError("LMDB: a transaction has left the map that was not in it")
    }
    let last = inside.removeLast()
    if index < inside.endIndex { inside[index] = last }
    if isChanging { pthread_cond_broadcast(condition) }
    guard let reader, spareReaders.count < Self.spareReaderLimit else { return false }
    spareReaders.append(reader)
    return true
  }

  /// Calls a closure while no transaction is inside. False if that cannot be: see above.
  func whileEmpty(waiting: Bool, _ change: () throws(MDBError) -> Void) throws(MDBError) -> Bool {
    let thread = ThreadIdentity.current
    var deadline = timespec()
    if waiting {
      clock_gettime(CLOCK_REALTIME, &deadline)
      deadline.tv_sec += Self.patience
    }
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while isChanging {
      if !waiting || inside.contains(thread) { return false }
      pthread_cond_wait(condition, lock)
    }
    isChanging = true
    defer {
      isChanging = false
      pthread_cond_broadcast(condition)
    }
    while !inside.isEmpty {
      if !waiting || inside.contains(thread) { return false }
      if pthread_cond_timedwait(condition, lock, &deadline) == ETIMEDOUT { return inside.isEmpty }
    }
    try change()
    return true
  }

  /// Takes the readers, so that they can be ended.
  func takeSpareReaders() -> [OpaquePointer] {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    defer { spareReaders = [] }
    return spareReaders
  }
}
