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
  /// The errors that are kept, for each storage transaction that can be open.
  let postponed: [PostponedErrors]

  /// - Parameter writers: How many storage transactions can be open at once.
  init(writers: Int = 1) {
    postponed = (0..<writers).map { _ in PostponedErrors() }
  }

  var handler: (@Sendable (any Error) -> Void)? {
    get { installed.withLock { $0 } }
    set { installed.withLock { $0 = newValue } }
  }

  func report(_ error: any Error) {
    let thread = ThreadIdentity.current.number
    for errors in postponed where errors.keep(error, of: thread) { return }
    var error = error
    if let routed = error as? any RoutedError {
      if routed.deliver() { return }
      error = routed.reported
    }
    if let handler { return handler(error) }
    #if DEBUG
      var line = "Dflat: \(error)\n"
      line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    #endif
  }

}

/// The errors that a thread finds while it uses a storage transaction, or holds its write lease.
final class PostponedErrors: Sendable {
  /// The thread that uses the storage transaction; 0 if there is none.
  private let user = Atomic<UInt>(0)
  /// The thread that holds the write lease for Dflat's own work; 0 if there is none.
  private let worker = Atomic<UInt>(0)
  private let errors = Mutex<[any Error]>([])
  private let hasErrors = Atomic(false)

  /// Keeps an error that a thread reports, if the thread must not report it now.
  func keep(_ error: any Error, of thread: UInt) -> Bool {
    guard user.load(ordering: .relaxed) == thread || worker.load(ordering: .relaxed) == thread
    else { return false }
    errors.withLock { $0.append(error) }
    hasErrors.store(true, ordering: .relaxed)
    return true
  }

  /// Keeps what this thread reports from now on. One thread at a time does so.
  @inline(__always)
  func postpone() { user.store(ThreadIdentity.current.number, ordering: .relaxed) }

  /// Ends what `postpone` began.
  /// - Returns: What was reported meanwhile, which the caller reports again without locks.
  @inline(__always)
  func endPostponing() -> [any Error] {
    user.store(0, ordering: .relaxed)
    if !hasErrors.load(ordering: .relaxed) { return [] }
    return worker.load(ordering: .relaxed) == 0 ? take() : []
  }

  /// Keeps what this thread, which holds the write lease, reports from now on.
  func beginWork() { worker.store(ThreadIdentity.current.number, ordering: .relaxed) }

  /// Ends what `beginWork` began. The thread still holds the lease.
  /// - Returns: What the caller reports again when it has passed the lease.
  func endWork() -> [any Error] {
    worker.store(0, ordering: .relaxed)
    return take()
  }

  @inline(never)
  private func take() -> [any Error] {
    hasErrors.store(false, ordering: .relaxed)
    return errors.withLock { errors in
      defer { errors = [] }
      return errors
    }
  }
}
