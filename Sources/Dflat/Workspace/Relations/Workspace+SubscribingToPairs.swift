// Subscribing to objects with their related ones, and to joins.

extension Workspace {
  /// Calls a handler with a query's objects and what they are related to, now and whenever one of
  /// these objects has changed.
  ///
  ///     let posts = dflat.query(Post.self).where(Post.likes > 100).including(Post.author)
  ///     subscription = dflat.subscribe(posts) { posts in
  ///       for (post, author) in posts { show(post, by: author) }
  ///     }
  ///
  /// The query is asked again after each transaction that has changed one of its types; the handler
  /// is called if the objects, their order, or the related ones are others or have other contents.
  /// It is called soon after the completion handler of the transaction, and may get the changes of
  /// several transactions at once. For threads see `subscribe(fetchedResult:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - query: The query. One of a `read` or `write` is watched beyond its closure.
  ///   - changeHandler: Called with the result at the subscription's position in the order of
  ///     transactions, and with each later one.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Element: Atom, Related>(
    _ query: IncludingQuery<Element, Related>,
    changeHandler: @escaping @Sendable (_ result: RelatedResult<Element, Related>) -> Void
  ) -> any Subscription {
    require(query.core === _core, "\(QueryError.foreignWorkspace(Element._schema))")
    let (objects, relation) = (query.objects.query, query.relation)
    return _core.follow(
      [objects.schema] + objects.relatedTypes + relation.types.types,
      { try relation.fetch(objects, in: $0) },
      isSame: { before, now in
        before.objects.elementsEqual(now.objects) { $0.isSameState(as: $1) }
          && relation.areSame(before.related, now.related)
      }, changeHandler)
  }

  /// A query's objects and what they are related to, now and whenever one of these objects has
  /// changed, as a stream that does not end by itself.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - bufferingPolicy: Which results are kept for a reader that is behind; by default the
  ///     newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  public func subscribe<Element: Atom, Related>(
    _ query: IncludingQuery<Element, Related>,
    bufferingPolicy: AsyncStream<RelatedResult<Element, Related>>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) -> AsyncStream<RelatedResult<Element, Related>> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(query) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }

  /// Calls a handler with the pairs of a join, now and whenever they have changed: a pair that
  /// came, left or moved, or an object with other contents.
  ///
  ///     let pairs = dflat.join(Post.self, Place.self, on: Post.city, Place.name)
  ///     subscription = dflat.subscribe(pairs) { pairs in show(pairs) }
  ///
  /// When it is called is told at `subscribe(_:changeHandler:)` for included objects.
  ///
  /// - Parameters:
  ///   - join: The join. One of a `read` or `write` is watched beyond its closure.
  ///   - changeHandler: Called with the pairs at the subscription's position in the order of
  ///     transactions, and with each later result.
  /// - Returns: The subscription. Releasing it cancels it, so keep it. After `shutdown` it never
  ///   has an event.
  public func subscribe<Left: Atom, Right: Atom>(
    _ join: JoinQuery<Left, Right>,
    changeHandler: @escaping @Sendable (_ pairs: [(Left, Right)]) -> Void
  ) -> any Subscription {
    require(join.core === _core, "\(QueryError.foreignWorkspace(Left._schema))")
    let pairs = join.pairs
    return _core.follow(
      pairs.types, { try pairs.fetch(in: $0) },
      isSame: { before, now in
        before.elementsEqual(now) { $0.0.isSameState(as: $1.0) && $0.1.isSameState(as: $1.1) }
      }, changeHandler)
  }

  /// The pairs of a join, now and whenever they have changed, as a stream that does not end by
  /// itself.
  ///
  /// - Parameters:
  ///   - join: The join.
  ///   - bufferingPolicy: Which results are kept for a reader that is behind; by default the
  ///     newest.
  /// - Returns: The stream. Dropping it cancels the subscription.
  public func subscribe<Left: Atom, Right: Atom>(
    _ join: JoinQuery<Left, Right>,
    bufferingPolicy: AsyncStream<[(Left, Right)]>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) -> AsyncStream<[(Left, Right)]> {
    AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
      let subscription = subscribe(join) { continuation.yield($0) }
      continuation.onTermination = { _ in subscription.cancel() }
    }
  }
}
