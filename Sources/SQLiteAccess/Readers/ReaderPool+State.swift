// The state of a pool of readers, and the queue of waiting threads.
//
// `State` changes only under the pool's lock. Signals are sent after the lock was released: a
// `Handover` says which ones.

import Dispatch
import Platform

/// A reader of a pool, or a placeholder for one that is being opened.
///
/// Unchecked, because a connection is not `Sendable`. The pool ensures that one thread uses it at a
/// time: under its lock a reader is either idle or has one holder, and passing through the lock or
/// a semaphore orders the accesses of successive holders. The holder sets `connection` and
/// `idleSince`; the rest changes under the lock.
@usableFromInline
final class PooledReader: @unchecked Sendable {
  /// Nil while it is being opened.
  @usableFromInline @exclusivity(unchecked) var connection: Connection!
  /// The thread inside `withReader` that has it.
  @exclusivity(unchecked) var thread: ThreadIdentity?
  /// When it was returned, in nanoseconds of `MonotonicTime`.
  @exclusivity(unchecked) var idleSince: UInt64 = 0
  /// Whether it does not count against the limit.
  @exclusivity(unchecked) var isExempt = false
  /// The file that it has open, if that is known.
  @exclusivity(unchecked) var file: FileIdentity?

  init(thread: ThreadIdentity?) {
    self.thread = thread
  }

  func close() {
    do {
      try connection?.close()
    } catch {
      // Its last holder kept a statement. That statement keeps the connection open, and closes it
      // when released.
    }
  }
}

/// The outcome of requesting a reader.
enum Decision: Sendable {
  case reader(PooledReader)
  /// The caller has a place and opens the reader itself.
  case mayOpen(PooledReader)
  case closed
  case wait(Waiter)
}

/// A thread in the queue.
final class Waiter: Sendable {
  /// The waiting thread, if it is inside `withReader`; nil if it will hold a lease.
  let thread: ThreadIdentity?
  let semaphore = DispatchSemaphore(value: 0)
  private let outcome = Mutex<Decision>(.closed)

  init(thread: ThreadIdentity?) {
    self.thread = thread
  }

  func takeOutcome() -> Decision {
    outcome.withLock { outcome in
      let taken = outcome
      outcome = .closed
      return taken
    }
  }

  fileprivate func end(with decision: Decision) {
    outcome.withLock { $0 = decision }
    semaphore.signal()
  }
}

/// The signals to send once the lock is released.
enum Handover: Sendable {
  case waiter(Waiter, Decision)
  case closers([DispatchSemaphore])

  init(waiter: Waiter, outcome: Decision) {
    self = .waiter(waiter, outcome)
  }

  func perform() {
    switch self {
    case .waiter(let waiter, let outcome): waiter.end(with: outcome)
    case .closers(let semaphores): for semaphore in semaphores { semaphore.signal() }
    }
  }
}

extension ReaderPool {
  struct State: Sendable {
    /// Readers that are idle, held, or being opened.
    var all: [PooledReader] = []
    /// The number of readers that do not count against the limit.
    private var exempted = 0
    /// Ordered by return; the last element was returned last.
    var idle: [PooledReader] = []
    var queue = Fifo<Waiter>()
    var isClosed = false
    /// Whether a timer is set that closes readers which were idle for too long.
    var isTimerSet = false
    /// Signalled when the last reader has been returned to a closed pool.
    var closers: [DispatchSemaphore] = []
    /// The file that usable readers have open; nil before one was opened.
    var file: FileIdentity?
    /// The files of the writer; nil as long as there is none.
    var required: OpenFiles?

    /// Whether a reader has the right file open, as far as that is known.
    func isCurrent(_ reader: PooledReader) -> Bool {
      guard let file, let its = reader.file else { return true }
      return its == file
    }

    /// Whether a thread is inside `withReader`.
    func isInside(_ thread: ThreadIdentity) -> Bool { all.contains { $0.thread == thread } }

    /// Adds a placeholder for another reader.
    mutating func addPlace(for thread: ThreadIdentity?) -> PooledReader {
      let reader = PooledReader(thread: thread)
      all.append(reader)
      return reader
    }

    /// The number of readers that count against the limit.
    var counted: Int { all.count - exempted }

    /// A reader does not count any more, until it is returned.
    mutating func exempt(_ reader: PooledReader) {
      reader.isExempt = true
      exempted += 1
    }

    /// A reader counts again, if it did not.
    mutating func count(_ reader: PooledReader) {
      guard reader.isExempt else { return }
      reader.isExempt = false
      exempted -= 1
    }

    /// Removes a reader. Lets the head of the queue open another, if there is room, or signals the
    /// threads that close the pool if it was the last.
    mutating func remove(_ reader: PooledReader, limit: Int) -> Handover? {
      all.removeAll { $0 === reader }
      count(reader)
      if isClosed {
        guard all.isEmpty, !closers.isEmpty else { return nil }
        defer { closers = [] }
        return .closers(closers)
      }
      guard counted < limit, let waiter = queue.popFirst() else { return nil }
      return Handover(waiter: waiter, outcome: .mayOpen(addPlace(for: waiter.thread)))
    }

    /// Removes and returns the readers that have been idle for at least this many nanoseconds.
    mutating func removeIdle(olderThan age: UInt64) -> [PooledReader] {
      let now = MonotonicTime.now
      let instant = now > age ? now - age : 0
      let removed = Array(idle.prefix { $0.idleSince <= instant })
      idle.removeFirst(removed.count)
      all.removeAll { reader in removed.contains { $0 === reader } }
      return removed
    }

    /// Traps, in debug builds, if an invariant of the pool is violated.
    func _checkInvariants(limit: Int) {
      #if DEBUG
        precondition(idle.count <= all.count)
        precondition(idle.isEmpty || queue.isEmpty, "a thread waits beside an idle reader")
        precondition(exempted == all.count { $0.isExempt })
        precondition(queue.isEmpty || counted >= limit, "a thread waits although there is room")
        precondition(!isClosed || idle.isEmpty && queue.isEmpty)
      #endif
    }
  }
}
