// Combine publishers, where there is Combine: thin over DemandBuffer and PublisherSources.

#if canImport(Combine)
  public import Combine

  /// Publishes what becomes of an object; completes after `deleted`.
  ///
  /// The subscription to the workspace begins at the first demand. A subscriber that is behind gets the newest state when it asks
  /// again.
  public final class AtomPublisher<Element: Atom & Equatable>: Publisher, Sendable {
    /// The object after a change, or that it is gone.
    public typealias Output = SubscribedObject<Element>
    /// It does not fail.
    public typealias Failure = Never
    private let source: AtomSource<Element>

    init(_ source: AtomSource<Element>) { self.source = source }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Never {
      BufferedSubscription.attach(subscriber) { [source] in source.start($0) }
    }
  }

  /// Publishes the new states of a result; never completes.
  ///
  /// The subscription to the workspace begins at the first demand. A subscriber that is behind gets the newest state when it asks
  /// again.
  public final class FetchedResultPublisher<Element: Atom & Equatable>: Publisher, Sendable {
    /// The result after a change.
    public typealias Output = FetchedResult<Element>
    /// It does not fail.
    public typealias Failure = Never
    private let source: ResultSource<Element>

    init(_ source: ResultSource<Element>) { self.source = source }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Never {
      BufferedSubscription.attach(subscriber) { [source] in source.start($0) }
    }
  }

  /// Publishes the result of a query and then its new states; never completes.
  ///
  /// The query runs when the first subscriber asks, on its thread, and once for all subscribers.
  public final class QueryPublisher<Element: Atom & Equatable>: Publisher, Sendable {
    /// The result, at first and after each change.
    public typealias Output = FetchedResult<Element>
    /// It does not fail.
    public typealias Failure = Never
    private let source: QuerySource<Element>

    init(_ source: QuerySource<Element>) { self.source = source }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Never {
      BufferedSubscription.attach(subscriber) { [source] in source.start($0) }
    }
  }

  /// Makes publishers of queries.
  public struct QueryPublisherBuilder<Element: Atom & Equatable>: Sendable {
    let core: WorkspaceCore

    /// A publisher of the objects for which `condition` is true; see `QueryBuilder`.
    ///
    /// - Parameters:
    ///   - condition: Objects for which it is unknown (a missing field) are left out.
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public func `where`<C: QueryExpression<Bool, Element>>(
      _ condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
    ) -> QueryPublisher<Element> {
      QueryPublisher(
        QuerySource(core, QueryBuilder<Element>(core).query(condition._node, limit, orderBy)))
    }

    /// A publisher of all objects.
    ///
    /// - Parameters:
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public func all(
      limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
    ) -> QueryPublisher<Element> {
      QueryPublisher(QuerySource(core, QueryBuilder<Element>(core).query(nil, limit, orderBy)))
    }
  }

  extension Workspace {
    /// Publishes what becomes of an object.
    /// - Parameter object: The object to watch.
    public func publisher<Element: Atom & Equatable>(
      for object: Element
    ) -> AtomPublisher<Element> {
      AtomPublisher(AtomSource(core: _core, object: object))
    }

    /// Publishes the new states of a result.
    /// - Parameter fetchedResult: A result of a workspace. One that was made by hand is a programmer error.
    public func publisher<Element: Atom & Equatable>(
      for fetchedResult: FetchedResult<Element>
    ) -> FetchedResultPublisher<Element> {
      FetchedResultPublisher(ResultSource(core: _core, result: fetchedResult))
    }

    /// Begins a query whose result is published.
    /// - Parameter type: The entity type.
    public func publisher<Element: Atom & Equatable>(
      for type: Element.Type
    ) -> QueryPublisherBuilder<Element> {
      QueryPublisherBuilder(core: _core)
    }
  }

  /// What a subscriber holds.
  private final class BufferedSubscription<Value: Sendable>: Subscription {
    private let buffer: DemandBuffer<Value>

    private init(_ buffer: DemandBuffer<Value>) { self.buffer = buffer }

    static func attach<S: Subscriber>(
      _ subscriber: S,
      _ start: @escaping @Sendable (DemandBuffer<Value>) -> (any WorkspaceSubscription)?
    ) where S.Input == Value, S.Failure == Never {
      let receiver: Receiver<Value> = SubscriberReceiver(subscriber)
      let buffer = DemandBuffer<Value>(
        receive: { DemandBuffer.Demand(receiver.receive($0)) }, finish: { receiver.finish() },
        start: start)
      subscriber.receive(subscription: BufferedSubscription(buffer))
    }

    func request(_ demand: Subscribers.Demand) {
      buffer.request(DemandBuffer.Demand(demand))
    }

    func cancel() { buffer.cancel() }
  }

  /// A subscriber without its type.
  ///
  /// Unchecked: it is called by one thread at a time, which the buffer minds.
  private class Receiver<Value>: @unchecked Sendable {
    func receive(_ value: Value) -> Subscribers.Demand { .none }
    func finish() {}
  }

  private final class SubscriberReceiver<S: Subscriber>: Receiver<S.Input>, @unchecked Sendable
  where S.Failure == Never {
    private let subscriber: S

    init(_ subscriber: S) { self.subscriber = subscriber }

    override func receive(_ value: S.Input) -> Subscribers.Demand { subscriber.receive(value) }

    override func finish() { subscriber.receive(completion: .finished) }
  }

  extension DemandBuffer.Demand {
    fileprivate init(_ demand: Subscribers.Demand) {
      self = demand.max.map { .atMost($0) } ?? .unlimited
    }
  }
#endif
