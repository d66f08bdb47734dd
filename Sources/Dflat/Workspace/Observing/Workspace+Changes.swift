// Observing the differences of a result.

extension Workspace {
  /// Calls a handler with each new state of a result and its difference from the one before.
  ///
  ///     subscription = dflat.subscribe(changesOf: popular) { change in
  ///       for entry in change.insertions { … }
  ///     }
  ///
  /// Everything else is as with `subscribe(fetchedResult:changeHandler:)`. The first change starts
  /// from the given result.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - changeHandler: Called once for each transaction that changed anything in the result.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Element: Atom & Equatable>(
    changesOf fetchedResult: FetchedResult<Element>,
    changeHandler: @escaping @Sendable (_ change: ResultChange<Element>) -> Void
  ) -> any Subscription {
    let differences = StateDifferences(from: fetchedResult)
    return _core.observe(fetchedResult._rows, fetchedResult.origin, for: "subscribe(changesOf:)") {
      differences.take(FetchedResult<Element>($0, $1), changeHandler)
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
}
