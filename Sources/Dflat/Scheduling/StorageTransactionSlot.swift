// StorageTransactionSlot: the use of one storage transaction after the other.
//
// A workspace has as many slots as its engine can have write transactions open at once: mostly one.
//
// Any thread uses the storage transaction, one at a time. If the engine binds a write transaction
// to a thread, the slot has a thread of its own, which begins all storage transactions of the slot
// and makes all of their calls, while the thread that needs them waits. Handlers of the program run
// on the same threads as with other engines.

import FlatBuffersRuntime
import Platform

final class StorageTransactionSlot: Sendable {
  let number: Int
  /// Encodes rows. Used by the holder of the write lease, while it uses the storage transaction.
  private let builder = Confined(
    FlatBufferBuilder(refusingMoreThan: FlatBufferBuilder.greatestSize))
  /// Held while the storage transaction is used.
  private let usage = Mutex(())
  private let postponed: PostponedErrors
  private let hook: ErrorHook
  /// Makes the calls of storage transactions if they are bound to a thread; otherwise nil.
  private let thread: CallThread?

  /// - Parameters:
  ///   - number: The place of the slot in its workspace.
  ///   - hook: Receives the errors that were found while the storage transaction was used.
  ///   - hasThread: Whether a thread of its own makes the calls of storage transactions.
  init(_ number: Int, _ hook: ErrorHook, hasThread: Bool = false) {
    self.number = number
    postponed = hook.postponed[number]
    self.hook = hook
    thread = hasThread ? CallThread() : nil
  }

  /// Makes the calls that begin a storage transaction, or use one that no other thread knows.
  @inline(__always)
  func callAlone<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
    if let thread { return try thread.call(body) }
    return try body()
  }

  /// Uses the storage transaction, as the lease holder or for a short read.
  /// - Parameters:
  ///   - isOpen: Whether the storage transaction is still open. If not, `body` makes no call of it.
  ///     Evaluated under the lock.
  ///   - body: What is done meanwhile.
  @inline(__always)
  func use<R: ~Copyable, E: Error>(
    while isOpen: @autoclosure () -> Bool = true, _ body: () throws(E) -> R
  ) throws(E) -> R {
    if let thread { return try use(thread, while: isOpen, body) }
    // The lock guards what `body` uses; its result belongs to the caller.
    var result: Result<R, E>?
    var reports: [any Error] = []
    usage.withLock { _ in
      postponed.postpone()
      result = Result(catching: body)
      reports = postponed.endPostponing()
    }
    for error in reports { hook.report(error) }
    guard let result else { preconditionFailure("a lock did not run its closure") }
    return try result.get()
  }

  /// The same on the slot's thread. What comes too late for the storage transaction must not wait
  /// for that thread, which may be waiting to begin the next one.
  @inline(never)
  private func use<R: ~Copyable, E: Error>(
    _ thread: CallThread, while isOpen: () -> Bool, _ body: () throws(E) -> R
  ) throws(E) -> R {
    var result: Result<R, E>?
    var reports: [any Error] = []
    func postponing() throws(E) -> R {
      postponed.postpone()
      defer { reports = postponed.endPostponing() }
      return try body()
    }
    usage.withLock { _ in
      result = Result { () throws(E) -> R in
        try isOpen() ? thread.call(postponing) : postponing()
      }
    }
    for error in reports { hook.report(error) }
    guard let result else { preconditionFailure("a lock did not run its closure") }
    return try result.get()
  }

  /// Uses the storage transaction, as the lease holder, with an empty builder to encode rows.
  @inline(__always)
  func useEncoding<R>(_ body: (FlatBufferBuilder) throws -> R) throws -> R {
    try use {
      try builder.withValue { builder in
        defer { builder.reset() }
        return try body(builder)
      }
    }
  }

  /// Keeps what this thread, which holds the lease for work of Dflat's own, reports from now on.
  func beginWork() { postponed.beginWork() }

  /// Ends what `beginWork` began.
  /// - Returns: What the caller reports again when it has passed the lease.
  func endWork() -> [any Error] { postponed.endWork() }
}
