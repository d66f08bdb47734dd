// DerivedSubscription: a subscription whose handler gets what is made of another one's states.
//
// Making an answer may take long: differences, sections, groups. If the subscription is cancelled
// meanwhile, the handler is not called: a gate of its own decides, after the answer is made.

/// Follows states, and calls a handler with what is made of each.
/// - Parameters:
///   - make: Makes an answer; nil if the handler is not to be called.
///   - handler: The program's.
///   - follow: Subscribes a handler to the states.
func derivedSubscription<State, Answer: Sendable>(
  _ make: @escaping @Sendable (State) -> Answer?, _ handler: @escaping @Sendable (Answer) -> Void,
  from follow: (@escaping @Sendable (State) -> Void) -> any WorkspaceSubscription
) -> any WorkspaceSubscription {
  let callback = Callback(handler)
  let source = follow { state in
    if let answer = make(state) { callback.call { $0(answer) } }
  }
  return DerivedSubscription(callback, source)
}

/// Releasing it cancels it.
private final class DerivedSubscription: WorkspaceSubscription {
  private let callback: any ClosableCallback
  private let source: any WorkspaceSubscription

  init(_ callback: any ClosableCallback, _ source: any WorkspaceSubscription) {
    self.callback = callback
    self.source = source
  }

  deinit { cancel() }

  func cancel() {
    _ = callback.close()
    source.cancel()
  }
}
