// Grouping: aggregates for each value of an expression.

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
  public func group<Key: QueryExpression, each Output>(
    by key: Key, _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(Key.Value?, repeat each Output)]
  where Key.Element == Element, Key.Value: DflatFriendlyValue {
    let decoder = key.decoder
    var groups: [(Key.Value?, repeat each Output)] = []
    for (keys, results) in try self.groups([key.expression], parts(repeat each aggregates)) {
      let outputs = Aggregate<Int, Element>.outputs(repeat each aggregates, from: results)
      if let having, try !having(repeat each outputs) { continue }
      groups.append((keys[0].flatMap { decoder($0) }, repeat each outputs))
    }
    return groups
  }

  /// Aggregates for each pair of values of two expressions, in ascending order of the first, then
  /// of the second.
  ///
  /// - Parameters:
  ///   - first: The first expression.
  ///   - second: The second expression.
  ///   - aggregates: What to compute for each group.
  ///   - having: Which groups are wanted; nil for all.
  /// - Returns: For each group its values, nil if they are unknown, and its aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `having`.
  public func group<First: QueryExpression, Second: QueryExpression, each Output>(
    by first: First, and second: Second, _ aggregates: repeat Aggregate<each Output, Element>,
    having: ((repeat each Output) throws -> Bool)? = nil
  ) throws -> [(First.Value?, Second.Value?, repeat each Output)]
  where
    First.Element == Element, First.Value: DflatFriendlyValue,
    Second.Element == Element, Second.Value: DflatFriendlyValue
  {
    let (firstDecoder, secondDecoder) = (first.decoder, second.decoder)
    var groups: [(First.Value?, Second.Value?, repeat each Output)] = []
    let keys = [first.expression, second.expression]
    for (keys, results) in try self.groups(keys, parts(repeat each aggregates)) {
      let outputs = Aggregate<Int, Element>.outputs(repeat each aggregates, from: results)
      if let having, try !having(repeat each outputs) { continue }
      let values = (keys[0].flatMap { firstDecoder($0) }, keys[1].flatMap { secondDecoder($0) })
      groups.append((values.0, values.1, repeat each outputs))
    }
    return groups
  }

  private func parts<each Output>(
    _ aggregates: repeat Aggregate<each Output, Element>
  ) -> [AggregatePart] {
    var parts: [AggregatePart] = []
    for aggregate in repeat each aggregates { parts.append(aggregate.part) }
    return parts
  }
}
