// Subscribing to results and objects that were fetched: the public API. For what is not fetched yet
// see Workspace+Requests.swift.

public import Dispatch

/// An event of an observed object.
public enum SubscribedObject<Element: Atom>: Sendable {
  /// The object was changed. The value is its new state.
  case updated(_: Element)
  /// The object was deleted. This is the last event.
  case deleted
}

extension SubscribedObject: Equatable where Element: Equatable {}

extension Workspace {
  /// The subscription type; releasing a subscription cancels it.
  public typealias Subscription = WorkspaceSubscription

  /// Calls a handler with each new state of a result.
  ///
  ///     let popular = dflat.fetch(for: Post.self).where(Post.likes > 100, limit: .limit(10))
  ///     subscription = dflat.subscribe(fetchedResult: popular) { popular in show(popular) }
  ///
  /// The call returns at once. The subscription is queued for the type: it begins after every
  /// transaction that was called before, and before any that is called later. If the result is out
  /// of date at that point it is read again, and the handler is called if its content has changed.
  /// From then on the handler is called exactly once for each transaction that changed anything in
  /// it: an object that entered, left, moved, or changed its content. It gets what a fetch of the
  /// same query would return.
  ///
  /// The handler runs after the commit, before the transaction's completion handler, on the
  /// workspace's target queue, in the order of the commits. Handlers of one type never run at the
  /// same time. A slow one delays later handlers and completions of its type, and nothing else. A
  /// result that looks through a reference belongs to several types, which count as one while it is
  /// observed.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: Another queue for the handler, as with `subscribe(_:on:changeHandler:)`: it runs as
  ///     soon as the queue is free, with the newest state.
  ///   - changeHandler: It may fetch, call `performChanges`, subscribe and cancel. Waiting in it
  ///     for another transaction of its types is a deadlock.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @inlinable
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: DispatchQueue? = nil,
    changeHandler: @escaping @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    _core.subscribe(on: queue, changeHandler) {
      _core.states(of: fetchedResult, for: "subscribe(fetchedResult:)", $0)
    }
  }

  /// Calls a handler with each new state of a result, on the main actor.
  ///
  /// As `subscribe(_:on:changeHandler:)` for requests calls it: as soon as the main actor is free,
  /// with the newest state.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, whose state it may use.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ fetchedResult: FetchedResult<Element>) -> Void
  ) -> any Subscription {
    QueuedCalls(onMainActor: changeHandler).subscription {
      _core.states(of: fetchedResult, for: "subscribe(fetchedResult:)", $0)
    }
  }

  /// Calls a handler with each new state of an object, and when it is deleted.
  ///
  /// An object that was fetched is found by its row id, one that the program made itself by its
  /// primary key. If it was changed since it was fetched, or deleted, the handler is first called
  /// with that. After `deleted` the subscription has ended: a new object with the same key does not
  /// revive it. For order and threads see `subscribe(fetchedResult:on:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - object: The object to watch.
  ///   - queue: Another queue for the handler. Of several changes, and a deletion, that come before
  ///     the queue is free, only the last is delivered.
  ///   - changeHandler: Called once for each transaction that changed the object.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  @inlinable
  @_disfavoredOverload
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: DispatchQueue? = nil,
    changeHandler: @escaping @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    _core.subscribe(on: queue, changeHandler) { _core.states(of: object, $0) }
  }

  /// Calls a handler with each new state of an object, and when it is deleted, on the main actor.
  ///
  /// - Parameters:
  ///   - object: The object to watch; see `subscribe(object:on:changeHandler:)`.
  ///   - queue: `.main`.
  ///   - changeHandler: Called on the main actor, whose state it may use. Of several changes, and a
  ///     deletion, that come before the main actor is free, only the last is delivered.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom & Equatable>(
    object: Element, on queue: MainActorQueue,
    changeHandler: @escaping @MainActor @Sendable (_ object: SubscribedObject<Element>) -> Void
  ) -> any Subscription {
    QueuedCalls(onMainActor: changeHandler).subscription { _core.states(of: object, $0) }
  }

  /// The new states of an object, as a stream that ends when the object is deleted.
  ///
  ///     for await post in dflat.subscribe(object: post) { show(post) }
  ///
  /// The subscription takes its position in the order of transactions during this call. There is no
  /// initial element, unless the object has changed since it was fetched. The subscription ends
  /// with the stream.
  ///
  /// - Parameters:
  ///   - object: The object to watch.
  ///   - bufferingPolicy: Which states are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  @inlinable
  public func subscribe<Element: Atom & Equatable>(
    object: Element,
    bufferingPolicy: AsyncStream<Element>.Continuation.BufferingPolicy = .bufferingNewest(1)
  ) -> AsyncStream<Element> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(object: object) { event in
        switch event {
        case .updated(let object): continuation.yield(object)
        case .deleted: continuation.finish()
        }
      }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }

  /// The new states of a result, as a stream that does not end by itself.
  ///
  ///     for await popular in dflat.subscribe(fetchedResult: popular) { show(popular) }
  ///
  /// The subscription takes its position in the order of transactions during this call. There is no
  /// initial element, unless the result is out of date. The subscription ends with the stream.
  ///
  /// - Parameters:
  ///   - fetchedResult: A result of a workspace. It is a programmer error to pass a result that the
  ///     program built itself.
  ///   - bufferingPolicy: Which states are kept for a reader that is behind; by default the newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  @inlinable
  public func subscribe<Element: Atom & Equatable>(
    fetchedResult: FetchedResult<Element>,
    bufferingPolicy: AsyncStream<FetchedResult<Element>>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) -> AsyncStream<FetchedResult<Element>> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(fetchedResult: fetchedResult) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}

extension WorkspaceCore {
  /// Calls a handler with the states of a result.
  /// - Parameter call: The public function that the program has called.
  @inlinable
  func states<Element: Atom>(
    of result: FetchedResult<Element>, for call: String,
    _ handler: @escaping @Sendable (FetchedResult<Element>) -> Void
  ) -> any WorkspaceSubscription {
    observe(result._rows, result.origin, for: call) {
      handler(FetchedResult($0, $1))
    }
  }

  /// Calls a handler with the states of an object, and when it is deleted.
  @inlinable
  func states<Element: Atom>(
    of object: Element, _ handler: @escaping @Sendable (SubscribedObject<Element>) -> Void
  ) -> any WorkspaceSubscription {
    observe(object._row, Element._schema) { row in
      handler(row.map { .updated(Element(_row: $0)) } ?? .deleted)
    }
  }
}

extension FetchedResult {
  /// The objects of rows.
  @inlinable
  init(_ rows: ContiguousArray<Row>, _ origin: ResultOrigin) {
    // Reserving capacity for nothing would write to the empty array that all threads share.
    if rows.isEmpty {
      self = FetchedResult([], origin)
      return
    }
    // Results by key have one row; the general way to make an array would then cost more than
    // everything else.
    if rows.count == 1 {
      self = FetchedResult([Element(_row: rows[0])], origin)
      return
    }
    let objects = [Element](unsafeUninitializedCapacity: rows.count) { objects, count in
      for index in rows.indices {
        objects.initializeElement(at: index, to: Element(_row: rows[index]))
      }
      count = rows.count
    }
    self = FetchedResult(objects, origin)
  }

  /// The rows of the objects.
  @inlinable
  var _rows: ContiguousArray<Row> {
    let objects = underlyingArray
    if objects.isEmpty { return [] }
    return ContiguousArray(unsafeUninitializedCapacity: objects.count) { rows, count in
      for index in objects.indices { rows.initializeElement(at: index, to: objects[index]._row) }
      count = objects.count
    }
  }
}
