// Callback: a program's handler, which is called until it is closed, and then released once.
//
// A gate decides whether a call may begin and which thread releases the handler; see CallGate.

import Platform

/// A handler of any type that can be closed.
protocol ClosableCallback: AnyObject, Sendable {
  /// Whether no further call begins.
  var isClosed: Bool { get }
  /// After this returns no call of the handler begins. Callable from any thread.
  /// - Returns: Whether this call has closed it.
  func close() -> Bool
}

/// A handler behind a gate.
final class Callback<Handler: Sendable>: ClosableCallback {
  private let gate = CallGate()
  /// nil once it was released.
  private let handler: Mutex<Handler?>

  init(_ handler: Handler) {
    self.handler = Mutex(handler)
  }

  var isClosed: Bool { gate.isClosed }

  func close() -> Bool {
    let (isFirst, letsGo) = gate.close()
    if letsGo { release() }
    return isFirst
  }

  /// Calls `body` with the handler, unless it was closed.
  @inline(__always)
  func call(_ body: (Handler) -> Void) {
    guard gate.enter() else { return }
    if let handler = handler.withLock({ $0 }) { body(handler) }
    if gate.leave() { release() }
  }

  private func release() {
    // This may deinitialize captured objects and run arbitrary code, so it is done without the
    // lock.
    let last = handler.withLock { $0.take() }
    withExtendedLifetime(last) {}
  }
}
