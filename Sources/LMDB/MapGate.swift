// The gate that protects an environment's memory map: a readers-writer lock between transactions
// and changes of the map's size.
//
// LMDB moves the map when its size changes. This must not happen while a transaction of this
// process uses it. Every outermost transaction enters the gate before it begins and leaves after it
// has ended. A change of the map waits until all transactions have left. Meanwhile, new
// transactions wait, except on threads that already have one inside: the other transactions may
// depend on those threads.
//
// A thread with a transaction inside cannot change the map. A change gives up after a timeout,
// because transactions on other threads may be waiting for the thread that changes the map. So
// there is no deadlock.
//
// Finished read-only transactions are reset and kept here for reuse, because renewing one is
// several times cheaper than beginning one. Reset transactions keep no pages in use.

internal import CLMDB
internal import Platform

/// Unchecked: the compiler cannot verify that the state is only accessed with the lock held.
final class MapGate: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  /// The thread of each transaction that is inside. A thread with several transactions occurs
  /// several times.
  @exclusivity(unchecked) private var activeThreads: [ThreadIdentity] = []
  @exclusivity(unchecked) private var isChanging = false
  @exclusivity(unchecked) private var spareReaders: [OpaquePointer] = []

  /// How long a change of the map waits for transactions to end, in seconds.
  static let changeTimeout = 30
  private static let spareReaderLimit = 8

  init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    condition = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    // Without attributes, neither call can fail.
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
    activeThreads.reserveCapacity(8)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(lock)
    condition.deallocate()
    lock.deallocate()
  }

  /// Enters a transaction. If `reading`, returns a reset reader to renew, if there is one.
  func enter(reading: Bool) -> OpaquePointer? {
    let thread = ThreadIdentity.current
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while isChanging && !activeThreads.contains(thread) { pthread_cond_wait(condition, lock) }
    activeThreads.append(thread)
    return reading && !spareReaders.isEmpty ? spareReaders.removeLast() : nil
  }

  /// Leaves the gate for a transaction that entered on `thread`. Returns whether the reset reader
  /// was kept; otherwise the caller has to end it.
  func leave(thread: ThreadIdentity, keeping reader: OpaquePointer? = nil) -> Bool {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    guard let index = activeThreads.lastIndex(of: thread) else {
      fatalError("LMDB: a transaction has left the map that was not in it")
    }
    let last = activeThreads.removeLast()
    if index < activeThreads.endIndex { activeThreads[index] = last }
    if isChanging { pthread_cond_broadcast(condition) }
    guard let reader, spareReaders.count < Self.spareReaderLimit else { return false }
    spareReaders.append(reader)
    return true
  }

  /// Calls a closure while no transaction is inside. Returns false if that is impossible: without
  /// `waiting` because a transaction is inside, otherwise because the calling thread has one inside
  /// or the timeout has passed.
  func withExclusiveAccess(waiting: Bool, _ change: () throws(MDBError) -> Void) throws(MDBError)
    -> Bool
  {
    let thread = ThreadIdentity.current
    var deadline = timespec()
    if waiting {
      clock_gettime(CLOCK_REALTIME, &deadline)
      deadline.tv_sec += Self.changeTimeout
    }
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while isChanging {
      if !waiting || activeThreads.contains(thread) { return false }
      pthread_cond_wait(condition, lock)
    }
    isChanging = true
    defer {
      isChanging = false
      pthread_cond_broadcast(condition)
    }
    while !activeThreads.isEmpty {
      if !waiting || activeThreads.contains(thread) { return false }
      if pthread_cond_timedwait(condition, lock, &deadline) == ETIMEDOUT {
        return activeThreads.isEmpty
      }
    }
    try change()
    return true
  }

  /// Removes and returns the spare readers, so that they can be ended.
  func takeSpareReaders() -> [OpaquePointer] {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    defer { spareReaders = [] }
    return spareReaders
  }
}
