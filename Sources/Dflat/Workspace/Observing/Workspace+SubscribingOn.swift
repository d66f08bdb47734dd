// Subscribing with handlers that run on a queue of the program.
//
// See QueuedCalls.swift for the order of the calls.

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
