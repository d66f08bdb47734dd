// Subscribing with handlers that run on a queue of the program's.
//
// What the workspace tells goes to the queue at once and in order, one job for each call. So nothing of the workspace waits for the
// queue. A call that waits there when the subscription is cancelled does not begin.

public import Dispatch

/// The main queue as that of the main actor, where handlers may use what belongs to it. Programs write `on: .main`.
public enum MainActorQueue: Sendable {
  /// The only one.
  case main
}

extension Workspace {
  /// Calls a handler with each new state of a result, on the main actor.
  ///
  ///     subscription = dflat.subscribe(fetchedResult: popular, on: .main) { [weak self] popular in
  ///       self?.posts = popular
  ///     }
  ///
  /// The handler may use what belongs to the main actor. It is called once for each transaction that changed anything in the
  /// result, in the order of the commits, as soon as the main actor is free: the transaction's completion handler may be called before,
  /// and what the handler gets may not be the newest state by then. Otherwise it is as without `on`.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor. A slow one delays nothing of the workspace.
  /// - Returns: The subscription, which must be kept: releasing it cancels. After `shutdown` it is one without events.
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(fetchedResult: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result, on a queue.
  ///
  /// As with `.main`, but on any queue. The handler's calls do not overlap, also if the queue is concurrent.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - queue: Where the handler is called.
  ///   - changeHandler: A slow one delays nothing of the workspace.
  /// - Returns: The subscription, which must be kept: releasing it cancels. After `shutdown` it is one without events.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(fetchedResult: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of an object, and when it is removed, on the main actor.
  ///
  /// - Parameters:
  ///   - object: The object to watch; see `subscribe(object:changeHandler:)`.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, once for each transaction that changed the object. It may use what belongs to
  ///     the main actor.
  /// - Returns: The subscription, which must be kept: releasing it cancels. After `shutdown` it is one without events.
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(object: object) { calls.add($0) })
  }

  /// Calls a handler with each new state of an object, and when it is removed, on a queue.
  ///
  /// - Parameters:
  ///   - object: The object to watch; see `subscribe(object:changeHandler:)`.
  ///   - queue: Where the handler is called. Its calls do not overlap, also if the queue is concurrent.
  ///   - changeHandler: Called once for each transaction that changed the object.
  /// - Returns: The subscription, which must be kept: releasing it cancels. After `shutdown` it is one without events.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(object: object) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on the main actor.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, once for each transaction that changed anything in the result. It may use what
  ///     belongs to the main actor.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(changesOf: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on a queue.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - queue: Where the handler is called. Its calls do not overlap, also if the queue is concurrent.
  ///   - changeHandler: Called once for each transaction that changed anything in the result.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(changesOf: fetchedResult) { calls.add($0) })
  }
}

/// Calls of a handler that wait in a queue.
private final class QueuedCalls<Event: Sendable>: Sendable {
  private let queue: DispatchQueue
  private let handler: @Sendable (Event) -> Void
  private let gate = CallGate()

  init(on queue: DispatchQueue, _ handler: @escaping @Sendable (Event) -> Void) {
    // A queue of its own keeps the order where the program's queue is concurrent.
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

  /// What the program holds.
  /// - Parameter source: Where the events come from.
  func subscription(_ source: any WorkspaceSubscription) -> any WorkspaceSubscription {
    QueuedSubscription(calls: self, source: source)
  }
}

/// To drop it is to cancel it.
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
