// Subscribing to objects with their related ones, and to joins, with handlers that run on a queue
// of the program.

public import Dispatch

extension Workspace {
  /// Calls a handler on the main actor with a query's objects and what they are related to, now and
  /// whenever one of these objects has changed.
  ///
  ///     let posts = dflat.query(Post.self).including(Post.author)
  ///     subscription = dflat.subscribe(posts, on: .main) { [weak self] in self?.show($0) }
  ///
  /// The handler may use main-actor state. It is called as soon as the main actor is free, with the
  /// newest result. Otherwise it is as without `on`.
  ///
  /// - Parameters:
  ///   - query: The query. One of a `read` or `write` is watched beyond its closure.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor. A slow handler does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom, Related>(
    _ query: IncludingQuery<Element, Related>, on queue: MainActorQueue,
    changeHandler:
      @escaping @MainActor @Sendable (
        _ result: RelatedResult<Element, Related>
      ) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(query) { calls.add($0) })
  }

  /// Calls a handler on a queue with a query's objects and what they are related to, now and
  /// whenever one of these objects has changed.
  ///
  /// As with `.main`, but on any queue. The handler's calls do not overlap, even if the queue is
  /// concurrent.
  ///
  /// - Parameters:
  ///   - query: The query. One of a `read` or `write` is watched beyond its closure.
  ///   - queue: Where the handler is called.
  ///   - changeHandler: The handler. A slow one does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @_disfavoredOverload
  public func subscribe<Element: Atom, Related>(
    _ query: IncludingQuery<Element, Related>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ result: RelatedResult<Element, Related>) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(query) { calls.add($0) })
  }

  /// Calls a handler on the main actor with the pairs of a join, now and whenever they have
  /// changed.
  ///
  /// When it is called is told at `subscribe(_:on:changeHandler:)` for included objects.
  ///
  /// - Parameters:
  ///   - join: The join. One of a `read` or `write` is watched beyond its closure.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor. A slow handler does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Left: Atom, Right: Atom>(
    _ join: JoinQuery<Left, Right>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ pairs: [(Left, Right)]) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(onMainActor: changeHandler)
    return calls.subscription(subscribe(join) { calls.add($0) })
  }

  /// Calls a handler on a queue with the pairs of a join, now and whenever they have changed.
  ///
  /// As with `.main`, but on any queue. The handler's calls do not overlap, even if the queue is
  /// concurrent.
  ///
  /// - Parameters:
  ///   - join: The join. One of a `read` or `write` is watched beyond its closure.
  ///   - queue: Where the handler is called.
  ///   - changeHandler: The handler. A slow one does not delay the workspace.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @_disfavoredOverload
  public func subscribe<Left: Atom, Right: Atom>(
    _ join: JoinQuery<Left, Right>, on queue: DispatchQueue,
    changeHandler: @escaping @Sendable (_ pairs: [(Left, Right)]) -> Void
  ) -> any Subscription {
    let calls = QueuedCalls(on: queue, changeHandler)
    return calls.subscription(subscribe(join) { calls.add($0) })
  }
}
