// Following requests with handlers and streams: the public API.

public import Dispatch

extension Workspace {
  /// Calls a handler with the answer to a request, now and whenever it has changed.
  ///
  ///     let unread = dflat.query(Article.self).where(!Article.isRead)
  ///     subscription = dflat.subscribe(unread) { articles in show(articles) }
  ///     badge = dflat.subscribe(unread.computing(.count)) { number in show(number) }
  ///
  /// The call returns at once. The subscription is queued for the request's types: it begins after
  /// every transaction that was called before, and before any that is called later. The handler
  /// first gets the answer at that position. How later ones follow depends on the request, and
  /// `explain` says it:
  ///
  /// - A *maintained* answer is delivered once for each transaction that has changed it, after the
  ///   commit and before the transaction's completion handler.
  /// - A request that is *asked again* gets its new answer soon after the completion handler,
  ///   perhaps once for several transactions.
  ///
  /// Without a queue the handler runs on the workspace's target queue, in the order of the commits.
  /// Handlers of one type never run at the same time. A slow one delays later handlers and
  /// completions of its type, and nothing else. A list that looks through a reference belongs to
  /// several types, which count as one while it is followed.
  ///
  /// - Parameters:
  ///   - request: What to follow. A query of a `read` or `write` is followed beyond its closure.
  ///   - queue: Where the handler runs. With a queue it runs as soon as the queue is free, and gets
  ///     the newest answer: one call for all transactions until then, also if the answer is the
  ///     same again after two of them. Its calls do not overlap,
  ///     even if the queue is concurrent, and it does not delay the workspace.
  ///   - changeHandler: It may fetch, call `performChanges`, subscribe and cancel. Without a queue,
  ///     waiting in it for another transaction of its types is a deadlock.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @_disfavoredOverload
  public func subscribe<R: Request>(
    _ request: R, on queue: DispatchQueue? = nil,
    changeHandler: @escaping @Sendable (_ answer: R.Answer) -> Void
  ) -> any Subscription {
    _core.subscribe(on: queue, changeHandler, following(request))
  }

  /// Calls a handler with the answer to a request, now and whenever it has changed, on the main
  /// actor.
  ///
  ///     subscription = dflat.subscribe(unread, on: .main) { [weak self] articles in
  ///       self?.articles = articles
  ///     }
  ///
  /// The handler may use main-actor state. It is called as soon as the main actor is free, and gets
  /// the newest answer: one call for all transactions until then, which may come after their
  /// completion handlers. It does not delay the workspace.
  ///
  /// - Parameters:
  ///   - request: What to follow. A query of a `read` or `write` is followed beyond its closure.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<R: Request>(
    _ request: R, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ answer: R.Answer) -> Void
  ) -> any Subscription {
    QueuedCalls(onMainActor: changeHandler).subscription(following(request))
  }

  /// The answer to a request, now and whenever it has changed, as a stream that does not end by
  /// itself.
  ///
  ///     for await articles in dflat.values(of: unread) { show(articles) }
  ///
  /// The subscription takes its position in the order of transactions during this call, and ends
  /// with the stream.
  ///
  /// - Parameters:
  ///   - request: What to follow. A query of a `read` or `write` is followed beyond its closure.
  ///   - bufferingPolicy: Which answers are kept for a reader that is behind; by default the
  ///     newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  public func values<R: Request>(
    of request: R,
    bufferingPolicy: AsyncStream<R.Answer>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<R.Answer> {
    let follow = following(request)
    return AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = follow { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }

  /// Follows a request of this workspace.
  private func following<R: Request>(
    _ request: R
  ) -> (@escaping RequestForm<R.Answer>.Handler) -> any Subscription {
    let (core, follow) = (_core, request._form.requireUse(in: _core).follow)
    return { follow(core, $0) }
  }
}

/// The main queue as the executor of the main actor, where handlers may use main-actor state.
/// Programs write `on: .main`.
public enum MainActorQueue: Sendable {
  /// The only case.
  case main
}
