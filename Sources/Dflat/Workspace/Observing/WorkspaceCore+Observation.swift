// Observing a workspace: subscriptions take their places, and changes are published.
//
// A subscription stands in the line of its type like a transaction, and behind that in the line of deliveries. So it begins
// after everything that was called before it was told of, and before anything that was called after it is.

extension WorkspaceCore {
  /// Tells observers what a committed transaction has changed. In its delivery.
  func publish(_ writes: WriteSet) {
    writes.forEach { type in
      if let changes = type.changes { type.observer.publish(changes, in: self) }
    }
  }

  /// Observes a result.
  /// - Parameters:
  ///   - rows: The result as the program has it.
  ///   - origin: Where it comes from.
  ///   - call: What the program has called.
  ///   - handler: Told the rows of the new result.
  @usableFromInline
  func observe(
    _ rows: ContiguousArray<Row>, _ origin: ResultOrigin?, for call: String,
    _ handler: @escaping @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void
  ) -> any WorkspaceSubscription {
    guard let origin else {
      misuse("\(call) was called with a result that no workspace has fetched")
    }
    let isOurs = origin.workspace == number
    let observer = ResultObserver(
      observers.of(origin.query.schema),
      isOurs ? origin : ResultOrigin(origin.query, timestamp: -1, workspace: number), rows, handler)
    return register(observer, readAt: isOurs ? origin.timestamp : -1)
  }

  /// Observes an object.
  /// - Parameters:
  ///   - row: The object as the program has it.
  ///   - schema: Its type.
  ///   - handler: Told the object after each change; nil when it is gone.
  @usableFromInline
  func observe(
    _ row: Row, _ schema: EntitySchema, _ handler: @escaping @Sendable (Row?) -> Void
  ) -> any WorkspaceSubscription {
    let observer = ObjectObserver(observers.of(schema), row, handler)
    return register(observer, readAt: row.id < 0 ? -1 : row.timestamp)
  }

  private func register(_ observer: Observer, readAt timestamp: Int64) -> any WorkspaceSubscription
  {
    let type = observer.type
    type.expect()
    let isAccepted = atDelivery(of: [type.schema]) { workspace in
      type.register(observer, timestamp, in: workspace)
    }
    if !isAccepted { observer.cancel() }
    return ObserverSubscription(observer)
  }

  /// Calls `body` where a transaction over these types that is called now would be told how it ended.
  /// - Returns: False if the workspace is shut down.
  func atDelivery(
    of types: TypeSet, _ body: @escaping @Sendable (WorkspaceCore) -> Void
  ) -> Bool {
    enqueue(types) { [self] in
      // It is no transaction: nothing of it is committed, and the clock stands still.
      let place = Errand(types, group: nil, failure: TransactionError.aborted) { [self] _ in
        delivering { body(self) }
        endAccepted()
      }
      return committer.end(nil, place)
    }
  }
}

/// What the program holds. To drop it is to cancel it.
private final class ObserverSubscription: WorkspaceSubscription {
  private let observer: Observer

  init(_ observer: Observer) {
    self.observer = observer
  }

  deinit { observer.cancel() }

  func cancel() { observer.cancel() }
}
