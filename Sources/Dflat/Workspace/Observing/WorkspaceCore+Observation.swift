// Observing a workspace: subscriptions are queued, and changes are published.
//
// A subscription enters the queue of its type like a transaction, and after that the delivery
// queue. So it begins after the changes of everything that was called before it were delivered, and
// before those of anything that was called after it.

import Dispatch

extension WorkspaceCore {
  /// Notifies observers of the changes of a committed transaction. Runs in its delivery.
  func publish(_ writes: WriteSet) {
    writes.forEach { type in
      guard let changes = type.changes else { return }
      type.observer.publish(changes.rows, in: self)
      // Other versions have other fields and defaults, so that their observers compare what they
      // know with what is stored.
      for version in observers.otherVersions(of: type.schema) { version.refresh(in: self) }
    }
    if observers.hasLinks { publishJointly(writes) }
  }

  /// Notifies the observers that depend on several types, once all types were looked at.
  private func publishJointly(_ writes: WriteSet) {
    var touched: [any JointObserver] = []
    var known: Set<ObjectIdentifier> = []
    writes.forEach { type in
      if type.changes == nil { return }
      for observer in observers.of(type.schema).takeJoint()
      where known.insert(ObjectIdentifier(observer)).inserted {
        touched.append(observer)
      }
    }
    for observer in touched { observer.applyTouches(in: self) }
    for observer in touched { observer.deliverChange() }
  }

  /// Observes the result of a query. The handler first gets the current one.
  /// - Parameters:
  ///   - query: The query.
  ///   - handler: Gets the rows of each result.
  func observe(
    _ query: Query,
    _ handler: @escaping @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void
  ) -> any WorkspaceSubscription {
    observe(nil, ResultOrigin(query, timestamp: -1, workspace: reading), handler)
  }

  /// Observes a result.
  /// - Parameters:
  ///   - rows: The result as the program has it.
  ///   - origin: The origin of the result.
  ///   - call: The public function that the program has called.
  ///   - handler: Gets the rows of each new result.
  @usableFromInline
  func observe(
    _ rows: ContiguousArray<Row>, _ origin: ResultOrigin?, for call: String,
    _ handler: @escaping @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void
  ) -> any WorkspaceSubscription {
    guard let origin else {
      misuse(
        "\(call) was called with a result that was made by hand: pass one that a workspace has fetched"
      )
    }
    let isOurs = origin.workspace == reading
    return observe(
      rows, isOurs ? origin : ResultOrigin(origin.query, timestamp: -1, workspace: reading),
      handler)
  }

  /// - Parameter rows: The result as the program has it; nil if it has none yet.
  private func observe(
    _ rows: ContiguousArray<Row>?, _ origin: ResultOrigin,
    _ handler: @escaping @Sendable (ContiguousArray<Row>, ResultOrigin) -> Void
  ) -> any WorkspaceSubscription {
    let query = origin.query
    if let refused = refuse(query) { return refused }
    if query.followsRelations {
      let schema = query.schema
      if query.reasonToAskAgain == nil {
        return follow(RelatedResultObserver(observers, origin, rows, handler))
      }
      return follow(
        [schema] + query.relatedTypes, from: rows,
        { core in ContiguousArray(try core.fetch(query).map { $0.marked(core.unread) }) },
        isSame: { before, now in
          before.count == now.count
            && before.elementsEqual(now) { $0.id == $1.id && $0.equals($1, as: schema.layout) }
        },
        { handler($0, origin) })
    }
    let observer = ResultObserver(observers.of(query.schema), origin, rows, handler)
    let isKnown = rows != nil && query.offset == 0
    return register(observer, readAt: isKnown ? origin.timestamp : -1)
  }

  /// Observes an object.
  /// - Parameters:
  ///   - row: The object as the program has it.
  ///   - schema: Its type.
  ///   - handler: Gets the object after each change; nil when it was deleted.
  @usableFromInline
  func observe(
    _ row: Row, _ schema: EntitySchema, _ handler: @escaping @Sendable (Row?) -> Void
  ) -> any WorkspaceSubscription {
    let observer = ObjectObserver(observers.of(schema), row, handler)
    // The clock of another workspace means nothing here.
    let isOurs = row.id >= 0 && row.mark.reading == reading
    return register(observer, readAt: isOurs ? row.timestamp : -1)
  }

  /// Observes aggregates over the result of a query. The handler first gets their current values.
  func observe(
    _ parts: [AggregatePart], over query: Query,
    _ handler: @escaping @Sendable ([AggregateResult]) -> Void
  ) -> any WorkspaceSubscription {
    let expressions = parts.map(\.expression)
    if let refused = refuse(query, expressions) { return refused }
    let related = query.relatedTypes(with: expressions)
    if !related.isEmpty {
      return follow(
        [query.schema] + related,
        { core in
          try core.reading(query, expressions) { try $0.accumulate(parts, query) }.map(\.result)
        }, isSame: SingleAggregates.areSame, handler)
    }
    return register(
      AggregateObserver(
        observers.of(query.schema), query, SingleAggregates(parts), handler), readAt: -1)
  }

  /// Observes the groups of a query's objects. The handler first gets the current ones.
  func observe(
    _ parts: GroupedParts, over query: Query,
    _ handler: @escaping @Sendable ([GroupResult]) -> Void
  ) -> any WorkspaceSubscription {
    if let refused = refuse(query, parts.expressions) { return refused }
    let related = query.relatedTypes(with: parts.expressions)
    if !related.isEmpty {
      return follow(
        [query.schema] + related,
        { core in
          try core.reading(query, parts.expressions) { try $0.group(parts, query).results }
        }, isSame: GroupedAggregates.areSame, handler)
    }
    return register(
      AggregateObserver(
        observers.of(query.schema), query, GroupedAggregates(parts), handler), readAt: -1)
  }

  /// Observes the objects that a query gives. The handler first gets all of them.
  /// - Parameter keysOnly: Whether only changes of keys are changes.
  /// - Returns: nil if the workspace is shut down.
  func observe(
    rowsOf query: Query, keysOnly: Bool,
    _ handler: @escaping @Sendable (RowsObserver.Event) -> Void
  ) -> (any WorkspaceSubscription)? {
    if query.followsRelations {
      return followIfOpen(
        [query.schema] + query.relatedTypes,
        { core in try core.fetch(query).map { $0.marked(core.unread) } },
        isSame: { _, _ in false }, failed: { handler(.failed($0)) }, { handler(.all($0[...])) })
    }
    let observer = RowsObserver(
      observers.of(query.schema), query, keysOnly: keysOnly, handler)
    let subscription = register(observer, readAt: -1)
    return observer.isCancelled ? nil : subscription
  }

  /// Reports why a query has no answer, if it has none.
  /// - Returns: A subscription without events; nil if the query can be followed.
  private func refuse(
    _ query: Query, _ values: [ValueExpression] = []
  ) -> (any WorkspaceSubscription)? {
    do { try query.requireAnswerable(with: values) } catch {
      report(error)
      return ClosedSubscription()
    }
    return nil
  }

  /// Enqueues an observer of several types.
  private func follow(_ observer: RelatedResultObserver) -> any WorkspaceSubscription {
    observers.hasLinks = true
    observer.expect()
    followTokens()
    follower?.begin(in: self)
    let isAccepted = atDelivery(of: observer.types) { observer.begin(in: $0) }
    if !isAccepted { observer.cancel() }
    return ObserverSubscription(observer)
  }

  func register(_ observer: Observer, readAt timestamp: Int64) -> any WorkspaceSubscription {
    if !enroll(observer, readAt: timestamp) { observer.cancel() }
    return ObserverSubscription(observer)
  }

  /// Enqueues an observer for its type.
  /// - Returns: False if the workspace is shut down.
  func enroll(_ observer: Observer, readAt timestamp: Int64) -> Bool {
    let type = observer.type
    type.expect()
    followTokens()
    follower?.begin(in: self)
    return atDelivery(of: [type.schema]) { workspace in
      type.register(observer, timestamp, in: workspace)
    }
  }

  /// Calls `body` at the point where the completion of a transaction over these types, if it were
  /// called now, would run.
  /// - Returns: False if the workspace is shut down.
  func atDelivery(
    of types: TypeSet, _ body: @escaping @Sendable (WorkspaceCore) -> Void
  ) -> Bool {
    enqueue(types) { [self] in
      // This is not a transaction: nothing is committed, and the clock does not advance.
      let place = CommitMember(types, group: nil, failure: TransactionError.aborted) { [self] _ in
        delivering { body(self) }
        endAccepted()
      }
      return coordinator.end(nil, place)
    }
  }
}

extension WorkspaceCore {
  func atLaterDelivery(
    of types: TypeSet, failures: Int,
    _ body: @escaping @Sendable (any TransactionHost) -> Void
  ) {
    if failures == 0 {
      _ = atDelivery(of: types) { body($0) }
      return
    }
    DispatchQueue.global().asyncAfter(deadline: .now() + .pause(after: failures - 1)) {
      [weak self] in
      _ = self?.atDelivery(of: types) { body($0) }
    }
  }

  func followLater(_ ids: Set<Int64>, of schema: EntitySchema) {
    if !ids.isEmpty { followLater(ids, of: schema, failures: 0) }
  }

  /// - Parameter failures: How many times reading the rows has failed before.
  private func followLater(_ ids: Set<Int64>, of schema: EntitySchema, failures: Int) {
    let type = observers.of(schema)
    _ = atDelivery(of: [schema]) { workspace in
      guard type.followOvertaken(ids, in: workspace) else { return }
      DispatchQueue.global().asyncAfter(deadline: .now() + .pause(after: failures)) {
        [weak workspace] in
        workspace?.followLater(ids, of: schema, failures: failures + 1)
      }
    }
  }
}

/// The subscription that the program gets. Releasing it cancels it.
private final class ObserverSubscription: WorkspaceSubscription {
  private let observer: Observer

  init(_ observer: Observer) {
    self.observer = observer
  }

  deinit { observer.cancel() }

  func cancel() { observer.cancel() }
}
