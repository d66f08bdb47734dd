// Observing the differences of a result.

import Platform

extension Workspace {
  /// Calls a handler with each new state of a result and its difference from the one before.
  ///
  ///     subscription = dflat.subscribe(changesOf: popular) { change in
  ///       for entry in change.insertions { … }
  ///     }
  ///
  /// Everything else is as with `subscribe(fetchedResult:changeHandler:)`. The first change is that from the given result.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - changeHandler: Called once for each transaction that changed anything in the result.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let last = Mutex(fetchedResult)
    return _core.observe(fetchedResult._rows, fetchedResult.origin, for: "subscribe(changesOf:)") {
      let result = FetchedResult<Element>($0, $1)
      let previous = last.withLock { last in
        defer { last = result }
        return last
      }
      changeHandler(ResultChange(from: previous, to: result))
    }
  }

  /// The changes of a result, as a sequence.
  ///
  ///     for await change in dflat.changes(of: popular) { table.apply(change) }
  ///
  /// The place in the order is taken by this call. There is one change for each transaction that changed anything in the result,
  /// the first one from the given result.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
  ///   - merging: Whether a reader that is behind gets what it has missed as one change. Otherwise all states wait for it, for
  ///     which there must be memory.
  /// - Returns: The changes, for one reader.
  public func changes<Element: Atom & Equatable>(
    of fetchedResult: FetchedResult<Element>, merging: Bool = false
  ) -> ResultChanges<Element> {
    ResultChanges(
      start: fetchedResult,
      results: subscribe(
        fetchedResult: fetchedResult,
        bufferingPolicy: merging ? .bufferingNewest(1) : .unbounded))
  }
}
