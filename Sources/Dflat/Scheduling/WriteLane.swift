// WriteLane: the use of one storage transaction after the other.
//
// A workspace has as many lanes as its engine can have write transactions open at once: mostly one.

import FlatBuffersRuntime
import Platform

final class WriteLane: Sendable {
  let number: Int
  /// Encodes rows. Used by the holder of the write lease, while it uses the storage transaction.
  private let builder = Confined(FlatBufferBuilder())
  /// Held while the storage transaction is used.
  private let usage = Mutex(())
  private let postponed: PostponedErrors
  private let hook: ErrorHook

  /// - Parameters:
  ///   - number: The place of the lane in its workspace.
  ///   - hook: Receives the errors that were found while the storage transaction was used.
  init(_ number: Int, _ hook: ErrorHook) {
    self.number = number
    postponed = hook.postponed[number]
    self.hook = hook
  }

  /// Uses the storage transaction, as the lease holder or for a short read.
  @inline(__always)
  func use<R: ~Copyable, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
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
