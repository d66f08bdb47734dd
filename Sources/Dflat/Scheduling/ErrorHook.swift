// ErrorHook: receives errors that no call can throw.
//
// If the program installs no handler, debug builds write these errors to the standard error stream.
// A handler may use the workspace, and wait for transactions. So what is found while a thread uses
// the storage transaction, or holds the write lease for Dflat's own work, is reported when it no
// longer does.

import Platform

/// The program's handler of errors that no call can throw.
final class ErrorHook: Sendable {
  private let installed = Mutex<(@Sendable (any Error) -> Void)?>(nil)
  /// The thread that uses the storage transaction; 0 if there is none.
  private let user = Atomic<UInt>(0)
  /// The thread that holds the write lease for Dflat's own work; 0 if there is none.
  private let worker = Atomic<UInt>(0)
  private let postponed = Mutex<[any Error]>([])
  private let hasPostponed = Atomic(false)

  var handler: (@Sendable (any Error) -> Void)? {
    get { installed.withLock { $0 } }
    set { installed.withLock { $0 = newValue } }
  }

  func report(_ error: any Error) {
    let thread = ThreadIdentity.current.number
    if user.load(ordering: .relaxed) == thread || worker.load(ordering: .relaxed) == thread {
      postponed.withLock { $0.append(error) }
      hasPostponed.store(true, ordering: .relaxed)
      return
    }
    if let handler { return handler(error) }
    #if DEBUG
      var line = "Dflat: \(error)\n"
      line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    #endif
  }

  /// Keeps what this thread reports from now on. One thread at a time does so.
  @inline(__always)
  func postpone() { user.store(ThreadIdentity.current.number, ordering: .relaxed) }

  /// Ends what `postpone` began.
  /// - Returns: What was reported meanwhile, which the caller reports again without locks.
  @inline(__always)
  func endPostponing() -> [any Error] {
    user.store(0, ordering: .relaxed)
    if !hasPostponed.load(ordering: .relaxed) { return [] }
    return worker.load(ordering: .relaxed) == 0 ? takePostponed() : []
  }

  /// Keeps what this thread, which holds the write lease, reports from now on.
  func beginWork() { worker.store(ThreadIdentity.current.number, ordering: .relaxed) }

  /// Ends what `beginWork` began. The thread still holds the lease.
  /// - Returns: What the caller reports again when it has passed the lease.
  func endWork() -> [any Error] {
    worker.store(0, ordering: .relaxed)
    return takePostponed()
  }

  @inline(never)
  private func takePostponed() -> [any Error] {
    hasPostponed.store(false, ordering: .relaxed)
    return postponed.withLock { errors in
      defer { errors = [] }
      return errors
    }
  }
}
