// Combine publishers, where Combine can be imported: a thin layer over DemandBuffer and
// PublisherSources.
//
// On Linux only the tests build this folder, as a module of its own and against a stand-in for
// Combine (Tests/Combine).

#if canImport(Combine)
  public import Combine
  #if os(Linux)
    public import Dflat
  #endif

  /// Publishes the answer to a request and then each other one; never completes.
  ///
  /// The subscription to the workspace begins at the first demand. A subscriber that is behind gets
  /// the newest answer when it requests more. The publishers of objects, results and queries are of
  /// this type as well.
  public final class RequestPublisher<Answer: Sendable>: Publisher, Sendable {
    /// The answer, at first and after each change.
    public typealias Output = Answer
    /// The publisher never fails.
    public typealias Failure = Never
    private let source: PublisherSource<Answer>

    init(_ source: PublisherSource<Answer>) { self.source = source }

    /// Attaches a subscriber.
    public func receive<S: Subscriber>(subscriber: S)
    where S.Input == Output, S.Failure == Never {
      BufferedSubscription.attach(subscriber) { [source] in source.start($0) }
    }
  }

  /// Publishes the changes of an object; completes after `deleted`.
  public typealias AtomPublisher<Element: Atom & Equatable> =
    RequestPublisher<SubscribedObject<Element>>

  /// Publishes the new states of a result, and not the present one; never completes.
  public typealias FetchedResultPublisher<Element: Atom & Equatable> =
    RequestPublisher<FetchedResult<Element>>

  /// Publishes the result of a query and then its new states; never completes.
  ///
  /// The query runs at the first demand of the first subscriber, on its thread, and once for all
  /// subscribers.
  public typealias QueryPublisher<Element: Atom & Equatable> =
    RequestPublisher<FetchedResult<Element>>

  /// Makes publishers of queries.
  public struct QueryPublisherBuilder<Element: Atom & Equatable>: Sendable {
    let core: WorkspaceCore

    /// A publisher of the objects that match `condition`; see `QueryBuilder`.
    ///
    /// - Parameters:
    ///   - condition: Objects for which it is unknown (a missing field) are left out.
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public func `where`<C: QueryExpression<Bool, Element>>(
      _ condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
    ) -> QueryPublisher<Element> {
      QueryPublisher(PublisherSource(core, condition._node, limit, orderBy))
    }

    /// The same for a condition without a type of its own, as `.always`.
    @_documentation(visibility: internal)
    @_disfavoredOverload
    public func `where`(
      _ condition: Condition<Element>, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
    ) -> QueryPublisher<Element> {
      QueryPublisher(PublisherSource(core, condition._node, limit, orderBy))
    }

    /// A publisher of all objects.
    ///
    /// - Parameters:
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public func all(
      limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
    ) -> QueryPublisher<Element> {
      QueryPublisher(PublisherSource(core, nil, limit, orderBy))
    }
  }

  extension Workspace {
    /// Publishes the changes of an object.
    /// - Parameter object: The object to watch.
    public func publisher<Element: Atom & Equatable>(
      for object: Element
    ) -> AtomPublisher<Element> {
      AtomPublisher(PublisherSource(core: _core, object: object))
    }

    /// Publishes the new states of a result.
    /// - Parameter fetchedResult: A result of a workspace. It is a programmer error to pass a
    ///   result that the program built itself.
    public func publisher<Element: Atom & Equatable>(
      for fetchedResult: FetchedResult<Element>
    ) -> FetchedResultPublisher<Element> {
      FetchedResultPublisher(PublisherSource(core: _core, result: fetchedResult))
    }

    /// Publishes the answer to a request, at first and after each change.
    ///
    ///     let unread = dflat.query(Article.self).where(!Article.isRead)
    ///     dflat.publisher(for: unread.computing(.count)).sink { badge.show($0) }
    ///
    /// - Parameter request: A request of this workspace.
    public func publisher<R: Request>(for request: R) -> RequestPublisher<R.Answer> {
      RequestPublisher(PublisherSource(core: _core, request: request))
    }

    /// Begins a query whose result is published.
    /// - Parameter type: The entity type.
    public func publisher<Element: Atom & Equatable>(
      for type: Element.Type
    ) -> QueryPublisherBuilder<Element> {
      QueryPublisherBuilder(core: _core)
    }
  }
#endif
