// Callback: a program's handler, which is called until it is closed, and then released once.
//
// A gate decides whether a call may begin and which thread releases the handler; see CallGate.

/// A handler of any type behind a gate.
///
/// Unchecked: any thread may close it, and the gate decides which one releases the handler.
/// Handlers are `@Sendable`, and are called by one job at a time.
class AnyCallback: @unchecked Sendable {
  fileprivate let gate = CallGate()

  /// Whether no further call begins.
  final var isClosed: Bool { gate.isClosed }

  /// Releases the handler. Called once.
  fileprivate func release() { preconditionFailure("AnyCallback is abstract") }

  /// After this returns no call of the handler begins.
  /// - Returns: Whether this call has closed it.
  final func close() -> Bool {
    let (isFirst, letsGo) = gate.close()
    if letsGo { release() }
    return isFirst
  }
}

/// A handler behind a gate. Unchecked as `AnyCallback` is.
final class Callback<Handler>: AnyCallback, @unchecked Sendable {
  /// Written by the thread that releases it, when no call uses it any more.
  @exclusivity(unchecked) private var handler: Handler?

  init(_ handler: Handler) {
    self.handler = handler
  }

  fileprivate override func release() {
    // This may deinitialize captured objects and run arbitrary code.
    let last = handler.take()
    withExtendedLifetime(last) {}
  }

  /// Calls `body` with the handler, unless it was closed.
  @inline(__always)
  func call(_ body: (Handler) -> Void) {
    guard gate.enter() else { return }
    if let handler { body(handler) }
    if gate.leave() { release() }
  }
}
