// Groups with a condition on their aggregates.

extension ObjectQuery {
  /// Aggregates for each value of an expression, in ascending order of the values; unknown values
  /// make the first group.
  ///
  ///     for (author, number, likes) in try posts.group(
  ///       by: Post.author, .count, .sum(Post.likes), having: { number, _ in number > 10 })
  ///     { … }
  ///
  /// - Parameters:
  ///   - key: The expression.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its value, nil if it is unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<Key: QueryExpression, each Output: Sendable>(
    by key: Key, _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(Key.Value?, repeat each Output)]
  where Key.Element == Element, Key.Value: DflatFriendlyValue {
    let groups = grouped(by: key, repeat each aggregates)
    return try groups.fetch(having, repeat each aggregates)
  }

  /// Aggregates for each pair of values of two expressions, in ascending order of the first, then
  /// of the next.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<
    First: QueryExpression,
    Second: QueryExpression,
    each Output: Sendable
  >(
    by first: First, and second: Second,
    _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(First.Value?, Second.Value?, repeat each Output)]
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue
  {
    let groups = grouped(by: first, and: second, repeat each aggregates)
    return try groups.fetch(having, repeat each aggregates)
  }

  /// Aggregates for each combination of values of any number of expressions, in ascending order of
  /// the first, then of the next.
  ///
  ///     for (state, owner, isUrgent, number) in try issues.group(
  ///       by: Issue.state, Issue.owner, Issue.priority > 5, computing: .count)
  ///     { … }
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - more: The other expressions.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<
    First: QueryExpression, Second: QueryExpression, each More: DflatFriendlyValue,
    each Output: Sendable
  >(
    by first: First, _ second: Second, _ more: repeat any QueryExpression<each More, Element>,
    computing aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(First.Value?, Second.Value?, repeat (each More)?, repeat each Output)]
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue
  {
    let groups = grouped(by: first, second, repeat each more, computing: repeat each aggregates)
    return try groups.fetch(having, repeat each aggregates)
  }

  /// Aggregates for each combination of values of three expressions, in ascending order of the
  /// first, then of the next.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - third: The third expression.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<
    First: QueryExpression,
    Second: QueryExpression,
    Third: QueryExpression,
    each Output: Sendable
  >(
    by first: First, and second: Second, and third: Third,
    _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(First.Value?, Second.Value?, Third.Value?, repeat each Output)]
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue,
    Third.Element == Element, Third.Value: DflatFriendlyValue
  {
    let groups = grouped(by: first, and: second, and: third, repeat each aggregates)
    return try groups.fetch(having, repeat each aggregates)
  }

  /// Aggregates for each combination of values of four expressions, in ascending order of the
  /// first, then of the next.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - third: The third expression.
  ///   - fourth: The fourth expression.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<
    First: QueryExpression,
    Second: QueryExpression,
    Third: QueryExpression,
    Fourth: QueryExpression,
    each Output: Sendable
  >(
    by first: First, and second: Second, and third: Third, and fourth: Fourth,
    _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(First.Value?, Second.Value?, Third.Value?, Fourth.Value?, repeat each Output)]
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue,
    Third.Element == Element, Third.Value: DflatFriendlyValue,
    Fourth.Element == Element, Fourth.Value: DflatFriendlyValue
  {
    let groups = grouped(by: first, and: second, and: third, and: fourth, repeat each aggregates)
    return try groups.fetch(having, repeat each aggregates)
  }
}

extension Grouping {
  /// The groups whose aggregates satisfy a condition.
  fileprivate func fetch<each Output: Sendable>(
    _ having: ((repeat each Output) throws -> Bool)?,
    _ aggregates: repeat Aggregate<each Output, Element>
  ) throws -> [Group] {
    guard let having else { return try fetch() }
    return try query.groups(parts).filter {
      let outputs = Aggregate<Int, Element>.outputs(repeat each aggregates, from: $0.results)
      return try having(repeat each outputs)
    }.map(group)
  }
}
