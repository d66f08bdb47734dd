// Grouping: aggregates for each value of an expression, or of several expressions.

/// Aggregates for each group of a query's objects, as a value: to be computed now, or followed.
///
///     let unread = dflat.query(Article.self).where(!Article.isRead)
///       .grouped(by: Article.feed, .count)
///     for (feed, number) in try unread.fetch() { … }
///     subscription = dflat.subscribe(unread) { groups in show(groups) }
public struct Grouping<Group: Sendable, Element: Atom>: Sendable {
  let query: ObjectQuery<Element>
  let parts: GroupedParts
  let group: @Sendable (GroupResult) -> Group

  /// The groups, in ascending order of their values; unknown values come first.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func fetch() throws -> [Group] { try query.groups(parts).map(group) }

  /// Explains how `fetch` would be executed now: which indexes narrow the objects, and whether one
  /// has all values, so that no object is read.
  ///
  ///     try dflat.query(Post.self).grouped(by: Post.author, .count).explain().isCovering
  ///
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain() throws -> QueryExplanation { try query.explain(parts) }
}

extension Grouping: Request {
  /// The groups as Dflat uses them. They are maintained as aggregates are; see
  /// ``ObjectQuery/computing(_:)-(Aggregate<Output,Element>)``.
  public var _form: RequestForm<[Group]> {
    let (data, parts, group) = (query.query, parts, group)
    return RequestForm(
      core: query.core, fetch: { try fetch() }, explain: { [try explain()] },
      follow: { core, handler in
        derivedSubscription({ $0.map(group) }, handler) { core.observe(parts, over: data, $0) }
      })
  }
}

extension ObjectQuery {
  /// Aggregates for each value of an expression, as a value.
  ///
  /// - Parameters:
  ///   - key: The expression.
  ///   - aggregates: What to compute for each group.
  /// - Returns: For each group its value, nil if it is unknown, and its aggregates.
  public func grouped<Key: QueryExpression, each Output: Sendable>(
    by key: Key, _ aggregates: repeat Aggregate<each Output, Element>
  ) -> Grouping<(Key.Value?, repeat each Output), Element>
  where Key.Element == Element, Key.Value: DflatFriendlyValue {
    let decoder = key.decoder
    let outputs = (repeat (each aggregates).output)
    return Grouping(
      query: self, parts: parts([key.expression], repeat each aggregates)
    ) { group in
      var results = group.results.makeIterator()
      return (
        group.keys[0].flatMap { decoder($0) },
        repeat (each outputs)(results.next().unsafelyUnwrapped)
      )
    }
  }

  /// Aggregates for each pair of values of two expressions, as a value.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - aggregates: What to compute for each group.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates. They are in
  ///   the order of the first values, then of the second.
  public func grouped<First: QueryExpression, Second: QueryExpression, each Output: Sendable>(
    by first: First, and second: Second, _ aggregates: repeat Aggregate<each Output, Element>
  ) -> Grouping<(First.Value?, Second.Value?, repeat each Output), Element>
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue
  {
    grouped(by: first, second, computing: repeat each aggregates)
  }

  /// Aggregates for each combination of values of any number of expressions, as a value.
  ///
  ///     let byYear = dflat.query(Issue.self).grouped(
  ///       by: Issue.state, Issue.owner, Issue.created / 31_536_000, computing: .count)
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - more: The other expressions.
  ///   - aggregates: What to compute for each group.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates. They are in
  ///   the order of the first values, then of the second, and so on.
  public func grouped<
    First: QueryExpression, Second: QueryExpression, each More: DflatFriendlyValue,
    each Output: Sendable
  >(
    by first: First, _ second: Second, _ more: repeat any QueryExpression<each More, Element>,
    computing aggregates: repeat Aggregate<each Output, Element>
  ) -> Grouping<(First.Value?, Second.Value?, repeat (each More)?, repeat each Output), Element>
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue
  {
    var keys = [first.expression, second.expression]
    for key in repeat each more { keys.append(key.expression) }
    let (firstDecoder, secondDecoder) = (first.decoder, second.decoder)
    let decoders = (repeat (each more).decoder)
    let outputs = (repeat (each aggregates).output)
    return Grouping(query: self, parts: parts(keys, repeat each aggregates)) { group in
      var values = group.keys.dropFirst(2).makeIterator()
      var results = group.results.makeIterator()
      return (
        firstDecoder(ifKnown: group.keys[0]), secondDecoder(ifKnown: group.keys[1]),
        repeat (each decoders)(ifKnown: values.next().unsafelyUnwrapped),
        repeat (each outputs)(results.next().unsafelyUnwrapped)
      )
    }
  }

  /// Aggregates for each combination of values of three expressions, as a value: the same as
  /// `grouped(by: first, second, third, computing: …)`.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - third: The third expression.
  ///   - aggregates: What to compute for each group.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  public func grouped<
    First: QueryExpression, Second: QueryExpression, Third: QueryExpression, each Output: Sendable
  >(
    by first: First, and second: Second, and third: Third,
    _ aggregates: repeat Aggregate<each Output, Element>
  ) -> Grouping<(First.Value?, Second.Value?, Third.Value?, repeat each Output), Element>
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue,
    Third.Element == Element, Third.Value: DflatFriendlyValue
  {
    grouped(by: first, second, third, computing: repeat each aggregates)
  }

  /// Aggregates for each combination of values of four expressions, as a value: the same as
  /// `grouped(by: first, second, third, fourth, computing: …)`.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - third: The third expression.
  ///   - fourth: The fourth expression.
  ///   - aggregates: What to compute for each group.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  public func grouped<
    First: QueryExpression, Second: QueryExpression, Third: QueryExpression,
    Fourth: QueryExpression, each Output: Sendable
  >(
    by first: First, and second: Second, and third: Third, and fourth: Fourth,
    _ aggregates: repeat Aggregate<each Output, Element>
  ) -> Grouping<
    (First.Value?, Second.Value?, Third.Value?, Fourth.Value?, repeat each Output), Element
  >
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue,
    Third.Element == Element, Third.Value: DflatFriendlyValue,
    Fourth.Element == Element, Fourth.Value: DflatFriendlyValue
  {
    grouped(by: first, second, third, fourth, computing: repeat each aggregates)
  }

  private func parts<each Output: Sendable>(
    _ keys: [ValueExpression], _ aggregates: repeat Aggregate<each Output, Element>
  ) -> GroupedParts {
    var parts: [AggregatePart] = []
    for aggregate in repeat each aggregates { parts.append(aggregate.part) }
    return GroupedParts(keys: keys, parts: parts)
  }
}
