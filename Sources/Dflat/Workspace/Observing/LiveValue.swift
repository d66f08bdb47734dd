// LiveValue: an aggregate that is always up to date.

public import Dispatch
public import Observation

extension Workspace {
  /// Calls a handler with an aggregate over a query's objects, now and whenever it has changed.
  ///
  ///     let open = dflat.query(Issue.self).where(Issue.isOpen)
  ///     subscription = dflat.subscribe(open, .count) { number in badge.show(number) }
  ///
  /// The aggregate is maintained from the changes of each transaction; the query is asked again
  /// only if the least or greatest value has left, for sums of floating-point numbers, and for
  /// queries with a limit or an offset. For order and threads see
  /// `subscribe(fetchedResult:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - query: The objects. A query of a `read` or `write` is watched beyond its closure.
  ///   - aggregate: What to compute.
  ///   - changeHandler: Called with the value at the subscription's position in the order of
  ///     transactions, and once for each later transaction that has changed the value.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Output, Element: Atom>(
    _ query: ObjectQuery<Element>, _ aggregate: Aggregate<Output, Element>,
    changeHandler: @escaping @Sendable (_ value: Output) -> Void
  ) -> any Subscription {
    let output = aggregate.output
    require(query.core === _core, "\(QueryError.foreignWorkspace(Element._schema))")
    return _core.observe([aggregate.part], over: query.query) { changeHandler(output($0[0])) }
  }

  /// An aggregate over a query's objects, now and whenever it has changed, as a stream that does
  /// not end by itself.
  ///
  /// - Parameters:
  ///   - query: The objects.
  ///   - aggregate: What to compute.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  public func subscribe<Output: Sendable, Element: Atom>(
    _ query: ObjectQuery<Element>, _ aggregate: Aggregate<Output, Element>,
    bufferingPolicy: AsyncStream<Output>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Output> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(query, aggregate) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

extension Workspace {
  /// Calls a handler with the groups of a query's objects, now and whenever one has changed.
  ///
  ///     let unread = dflat.query(Article.self).where(!Article.isRead)
  ///       .grouped(by: Article.feed, .count)
  ///     subscription = dflat.subscribe(unread) { groups in badges.show(groups) }
  ///
  /// The groups are maintained from the changes of each transaction, as aggregates are; see
  /// `subscribe(_:_:changeHandler:)`.
  /// - Parameters:
  ///   - grouping: The groups.
  ///   - changeHandler: Called with all groups at the subscription's position in the order of
  ///     transactions, and once for each later transaction that has changed one.
  /// - Returns: The subscription. Releasing it cancels it, so keep it.
  public func subscribe<Group, Element: Atom>(
    _ grouping: Grouping<Group, Element>,
    changeHandler: @escaping @Sendable (_ groups: [Group]) -> Void
  ) -> any Subscription {
    let (query, group) = (grouping.query, grouping.group)
    require(query.core === _core, "\(QueryError.foreignWorkspace(Element._schema))")
    return _core.observe(grouping.parts, over: query.query) { changeHandler($0.map(group)) }
  }

  /// The groups of a query's objects, now and whenever one has changed, as a stream that does not
  /// end by itself.
  ///
  /// - Parameters:
  ///   - grouping: The groups.
  ///   - bufferingPolicy: Which values are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  public func subscribe<Group: Sendable, Element: Atom>(
    _ grouping: Grouping<Group, Element>,
    bufferingPolicy: AsyncStream<[Group]>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<[Group]> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(grouping) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

/// An aggregate, or groups, that follow the data, and notify Swift's Observation of changes.
///
///     let number = try LiveValue(dflat.query(Issue.self).where(Issue.isOpen), .count, in: dflat)
///     print(number.value)
///     let feeds = try LiveValue(unread.grouped(by: Article.feed, .count), in: dflat)
public final class LiveValue<Value: Sendable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let shown: ShownValue<Value>

  /// Follows an aggregate.
  ///
  /// - Parameters:
  ///   - query: The objects.
  ///   - aggregate: What to compute.
  ///   - workspace: The workspace to observe. It is not kept alive.
  ///   - queue: The queue on which `value` changes. It must be serial; the default is the main
  ///     queue, for views. With nil, `value` changes where callbacks run.
  /// - Throws: `StorageError`, `FunctionError` or `WorkspaceError` if the first value cannot be
  ///   computed; `QueryError` for a query of another workspace.
  public init<Element: Atom>(
    _ query: ObjectQuery<Element>, _ aggregate: Aggregate<Value, Element>,
    in workspace: some Workspace, on queue: DispatchQueue? = .main
  ) throws {
    try query.requireUse(in: workspace._core)
    shown = ShownValue(try query.value(aggregate), on: queue)
    let subscription = workspace.subscribe(query, aggregate) { [weak self] value in
      self?.take(value)
    }
    shown.keep(subscription)
  }

  /// Follows the groups of a query's objects.
  ///
  /// - Parameters:
  ///   - grouping: The groups; `value` is an array of them.
  ///   - workspace: The workspace to observe. It is not kept alive.
  ///   - queue: The queue on which `value` changes, as for an aggregate.
  /// - Throws: As for an aggregate.
  public init<Group: Sendable, Element: Atom>(
    _ grouping: Grouping<Group, Element>, in workspace: some Workspace,
    on queue: DispatchQueue? = .main
  ) throws where Value == [Group] {
    try grouping.query.requireUse(in: workspace._core)
    shown = ShownValue(try grouping.fetch(), on: queue)
    let subscription = workspace.subscribe(grouping) { [weak self] groups in
      self?.take(groups)
    }
    shown.keep(subscription)
  }

  /// The value as it is now.
  public var value: Value {
    registrar.access(self, keyPath: \.value)
    return shown.value
  }

  private func take(_ value: Value) {
    shown.take(value) { [weak self] in self?.show() }
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.value) { shown.advance() }
  }
}
