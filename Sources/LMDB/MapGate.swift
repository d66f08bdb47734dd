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

final class MapGate: Sendable {
  /// A transaction or copy that is inside.
  private struct Entry: Equatable {
    let thread: ThreadIdentity
    let isWriter: Bool
  }

  private struct State {
    /// A thread with several transactions occurs several times.
    var inside: [Entry] = []
    var isChanging = false
    var spareReaders: [OpaquePointer] = []

    func has(_ thread: ThreadIdentity) -> Bool { inside.contains { $0.thread == thread } }
  }

  private let gate: Monitor<State>

  /// How long a change of the map waits for transactions to end.
  static let changeTimeout = Duration.seconds(30)
  private static let spareReaderLimit = 8
  private static let idleReaderLimit = 2

  init() {
    var state = State()
    state.inside.reserveCapacity(8)
    gate = Monitor(state)
  }

  /// Enters a reader. Returns a reset one to renew, if there is one.
  func enterReader() -> OpaquePointer? {
    lockAndEnter(isWriter: false)
    defer { gate.unlock() }
    return gate.state.spareReaders.popLast()
  }

  /// Enters a writing transaction, or a copy.
  func enter(isWriter: Bool) {
    lockAndEnter(isWriter: isWriter)
    gate.unlock()
  }

  private func lockAndEnter(isWriter: Bool) {
    let thread = ThreadIdentity.current
    gate.lock()
    while gate.state.isChanging && !gate.state.has(thread) { gate.wait() }
    gate.state.inside.append(Entry(thread: thread, isWriter: isWriter))
  }

  /// Whether the calling thread has a writing transaction inside.
  var isWriting: Bool {
    gate.lock()
    defer { gate.unlock() }
    return gate.state.inside.contains(Entry(thread: .current, isWriter: true))
  }

  /// Calls a closure, which uses the map outside of transactions, while the map does not change.
  func whileMapStays<R>(_ body: () -> R) -> R {
    gate.lock()
    defer { gate.unlock() }
    return body()
  }

  /// Leaves the gate for a transaction that entered on `thread`.
  ///
  /// A reset reader still has a slot, which other processes cannot use. So while no transaction is
  /// inside, few are kept.
  /// - Returns: The reset readers that the caller has to end.
  func leave(
    thread: ThreadIdentity, isWriter: Bool, keeping reader: OpaquePointer? = nil
  ) -> ArraySlice<OpaquePointer> {
    gate.lock()
    defer { gate.unlock() }
    let entry = Entry(thread: thread, isWriter: isWriter)
    guard let index = gate.state.inside.lastIndex(of: entry) else {
      fatalError("LMDB: a transaction has left the map that was not in it")
    }
    let last = gate.state.inside.removeLast()
    if index < gate.state.inside.endIndex { gate.state.inside[index] = last }
    if gate.state.isChanging { gate.broadcast() }
    if let reader { gate.state.spareReaders.append(reader) }
    let limit = gate.state.inside.isEmpty ? Self.idleReaderLimit : Self.spareReaderLimit
    guard gate.state.spareReaders.count > limit else { return [] }
    defer { gate.state.spareReaders.removeSubrange(limit...) }
    return gate.state.spareReaders[limit...]
  }

  /// Calls a closure while no transaction is inside. Returns false if that is impossible: without
  /// `waiting` because a transaction is inside, otherwise because the calling thread has one inside
  /// or the timeout has passed.
  func withExclusiveAccess(waiting: Bool, _ change: () throws(MDBError) -> Void) throws(MDBError)
    -> Bool
  {
    let thread = ThreadIdentity.current
    let deadline = MonotonicTime.now + MonotonicTime.nanoseconds(Self.changeTimeout)
    gate.lock()
    defer { gate.unlock() }
    while gate.state.isChanging {
      if !waiting || gate.state.has(thread) { return false }
      gate.wait()
    }
    gate.state.isChanging = true
    defer {
      gate.state.isChanging = false
      gate.broadcast()
    }
    while !gate.state.inside.isEmpty {
      if !waiting || gate.state.has(thread) { return false }
      if !gate.wait(until: deadline), !gate.state.inside.isEmpty { return false }
    }
    try change()
    return true
  }

  /// Removes and returns the spare readers, so that they can be ended.
  func takeSpareReaders() -> [OpaquePointer] {
    gate.lock()
    defer { gate.unlock() }
    defer { gate.state.spareReaders = [] }
    return gate.state.spareReaders
  }
}
