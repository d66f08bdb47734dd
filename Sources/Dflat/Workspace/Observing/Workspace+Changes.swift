// Observing the differences of a result.

public import Dispatch

extension Workspace {
  /// Calls a handler with each new state of a result and its difference from the one before.
  ///
  ///     subscription = dflat.subscribe(changesOf: popular) { change in
  ///       for entry in change.insertions { … }
  ///     }
  ///
  /// Everything else is as with `subscribe(fetchedResult:on:changeHandler:)`. The first change
  /// starts from the given result, and each later one where the one before ended.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: Another queue for the handler. What several transactions have changed before the
  ///     queue is free is one difference.
  ///   - changeHandler: Called once for each transaction that changed anything in the result.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: DispatchQueue? = nil,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let differences = StateDifferences(from: fetchedResult)
    return derivedSubscription(differences.take, changeHandler) { handler in
      _core.subscribe(on: queue, handler) {
        _core.states(of: fetchedResult, for: "subscribe(changesOf:)", $0)
      }
    }
  }

  /// Calls a handler with each new state of a result and its difference from the one before, on the
  /// main actor.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, whose state it may use. What several transactions
  ///     have changed before the main actor is free is one difference.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let differences = StateDifferences(from: fetchedResult)
    return derivedSubscription(
      differences.take, { change in MainActor.assumeIsolated { changeHandler(change) } }
    ) { handler in
      QueuedCalls<FetchedResult<Element>>(onMainActor: handler).subscription {
        _core.states(of: fetchedResult, for: "subscribe(changesOf:)", $0)
      }
    }
  }

  /// The changes of a result, as a sequence.
  ///
  ///     for await change in dflat.changes(of: popular) { table.apply(change) }
  ///
  /// The subscription takes its position in the order of transactions during this call. There is
  /// one change for each transaction that changed anything in the result, the first one starting
  /// from the given result.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - merging: Whether a reader that is behind gets everything that it has missed as one change.
  ///     Otherwise all states are buffered for it, which may need much memory.
  /// - Returns: The changes, for a single iteration.
  public func changes<Element: Atom & Equatable>(
    of fetchedResult: FetchedResult<Element>, merging: Bool = false
  ) -> ResultChanges<Element> {
    ResultChanges(
      start: fetchedResult,
      results: subscribe(
        fetchedResult: fetchedResult,
        bufferingPolicy: merging ? .bufferingNewest(1) : .unbounded))
  }

  /// The changes of the objects that a request asks for, as a sequence.
  ///
  ///     for await change in dflat.changes(of: dflat.query(Post.self)) { table.apply(change) }
  ///
  /// The first change inserts the objects that there are; otherwise it is as for a result.
  /// - Parameters:
  ///   - request: The objects.
  ///   - merging: Whether a reader that is behind gets everything that it has missed as one change.
  ///     Otherwise all states are buffered for it, which may need much memory.
  /// - Returns: The changes, for a single iteration.
  public func changes<Element: Atom & Equatable>(
    of request: some Request<FetchedResult<Element>>, merging: Bool = false
  ) -> ResultChanges<Element> {
    ResultChanges(
      start: FetchedResult([]),
      results: values(of: request, bufferingPolicy: merging ? .bufferingNewest(1) : .unbounded))
  }
}
