// Subscribing with handlers that run on a queue of the program.
//
// The workspace enqueues each call of a handler at once and in order, one job for each call, and
// never waits for the program's queue. A call that is still queued when the subscription is
// cancelled does not begin.

public import Dispatch

/// The main queue as the executor of the main actor, where handlers may use main-actor state.
/// Programs write `on: .main`.
public enum MainActorQueue: Sendable {
  /// The only case.
  case main
}

extension Workspace {
  /// Calls a handler with each new state of a result, on the main actor.
  ///
  ///     subscription = dflat.subscribe(fetchedResult: popular, on: .main) { [weak self] popular in
  ///       self?.posts = popular
  ///     }
  ///
  /// The handler may use main-actor state. It is called once for each transaction that changed
  /// anything in the result, in the order of the commits, as soon as the main actor is free. The
  /// transaction's completion handler may be called before that, and the result that the handler
  /// gets may not be the newest any more. Otherwise it is as without `on`.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor. A slow handler does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(fetchedResult: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result, on a queue.
  ///
  /// As with `.main`, but on any queue. The handler's calls do not overlap, even if the queue is
  /// concurrent.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: Where the handler is called.
  ///   - changeHandler: The handler. A slow one does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(fetchedResult: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of an object, and when it is deleted, on the main actor.
  ///
  /// - Parameters:
  ///   - object: The object to watch; see `subscribe(object:changeHandler:)`.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, once for each transaction that changed the
  ///     object. It may use main-actor state.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(object: object) { calls.add($0) })
  }

  /// Calls a handler with each new state of an object, and when it is deleted, on a queue.
  ///
  /// - Parameters:
  ///   - object: The object to watch; see `subscribe(object:changeHandler:)`.
  ///   - queue: Where the handler is called. Its calls do not overlap, even if the queue is
  ///     concurrent.
  ///   - changeHandler: Called once for each transaction that changed the object.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(object: object) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on the
  /// main actor.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, once for each transaction that changed anything
  ///     in the result. It may use main-actor state.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(changesOf: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on a
  /// queue.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: Where the handler is called. Its calls do not overlap, even if the queue is
  ///     concurrent.
  ///   - changeHandler: Called once for each transaction that changed anything in the result.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(changesOf: fetchedResult) { calls.add($0) })
  }
}

/// Calls of a handler that are queued.
private final class QueuedCalls<Event: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let handler: @Sendable (Event) -> Void
  private let gate = CallGate()

  init(on queue: DispatchQueue, _ handler: @escaping @Sendable (Event) -> Void) {
    // A serial queue keeps the order if the program's queue is concurrent.
    self.queue = DispatchQueue(label: "dflat.subscription", target: queue)
    self.handler = handler
  }

  init(onMainActor handler: @escaping @MainActor @Sendable (Event) -> Void) {
    queue = .main
    self.handler = { event in MainActor.assumeIsolated { handler(event) } }
  }

  func add(_ event: Event) {
    queue.async { [self] in
      guard gate.enter() else { return }
      handler(event)
      _ = gate.leave()
    }
  }

  func close() { _ = gate.close() }

  /// The subscription that the program gets.
  /// - Parameter source: The source of the events.
  func subscription(_ source: any WorkspaceSubscription) -> any WorkspaceSubscription {
    QueuedSubscription(calls: self, source: source)
  }
}

/// Releasing it cancels it.
private final class QueuedSubscription<Event: Sendable>: WorkspaceSubscription {
  private let calls: QueuedCalls<Event>
  private let source: any WorkspaceSubscription

  init(calls: QueuedCalls<Event>, source: any WorkspaceSubscription) {
    self.calls = calls
    self.source = source
  }

  deinit { cancel() }

  func cancel() {
    calls.close()
    source.cancel()
  }
}
