// Subscribing with handlers that run on a queue of the program.
//
// See QueuedCalls.swift for the order of the calls, and for what becomes one call.

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
  /// The handler may use main-actor state. It is called as soon as the main actor is free, and gets
  /// the newest state: if several transactions have changed the result by then, it is called once
  /// for all of them. The completion handlers of the transactions may be called before that.
  /// Otherwise it is as without `on`.
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
  /// As with `.main`, but on any queue: as soon as it is free, with the newest state. The handler's
  /// calls do not overlap, even if the queue is concurrent.
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
  ///   - changeHandler: Called on the main actor, and may use main-actor state. It gets the newest
  ///     state of the object: of several changes, and a deletion, that come before the main actor
  ///     is free, only the last is delivered.
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
  ///   - changeHandler: Gets the newest state of the object; see
  ///     ``subscribe(object:on:changeHandler:)-(_,MainActorQueue,_)``.
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
  /// If several transactions have changed the result before the main actor is free, the handler
  /// gets what they have changed together, as one difference. Each difference begins at the state
  /// where the one before ended, so none is missed.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor. It may use main-actor state.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let differences = StateDifferences(from: fetchedResult)
    let calls = QueuedCalls<FetchedResult<Element>>(onMainActor: { result in
      differences.take(result) { changeHandler($0) }
    })
    return calls.subscription(states(of: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on a
  /// queue.
  ///
  /// As with `.main`: changes that come before the queue is free are one difference.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: Where the handler is called. Its calls do not overlap, even if the queue is
  ///     concurrent.
  ///   - changeHandler: The handler. A slow one does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let differences = StateDifferences(from: fetchedResult)
    let calls = QueuedCalls<FetchedResult<Element>>(on: queue) { result in
      differences.take(result, changeHandler)
    }
    return calls.subscription(states(of: fetchedResult) { calls.add($0) })
  }

  /// Calls a handler with the states between which there are differences.
  private func states<Element: Atom & Equatable>(
    of fetchedResult: FetchedResult<Element>,
    _ handler: @escaping @Sendable (FetchedResult<Element>) -> Void
  ) -> any Subscription {
    _core.observe(fetchedResult._rows, fetchedResult.origin, for: "subscribe(changesOf:)") {
      handler(FetchedResult($0, $1))
    }
  }
}
