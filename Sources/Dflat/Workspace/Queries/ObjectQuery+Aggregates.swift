// Counting and adding up, without objects.

extension ObjectQuery {
  /// The number of objects.
  ///
  /// If a key or index answers the whole condition, no object is read. Otherwise two threads may
  /// look at the objects of a large table, as for aggregates.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func count() throws -> Int {
    let query = query
    return try reading(query) { reader in
      try reader.count(query) ?? reader.countRows(query)
    }
  }

  /// Whether there is an object.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func exists() throws -> Bool {
    let query = first(1)
    return try reading(query) { reader in
      var isFound = false
      _ = try reader.scan(.query(query), .bytes) { _ in
        isFound = true
        return false
      }
      return isFound
    }
  }

  /// The sum of a number over all objects.
  ///
  /// Unknown values are left out; the sum of nothing is 0. Sums of integers are exact.
  /// - Parameter expression: A number: `Post.likes`, `Post.likes + Post.views`.
  /// - Returns: The sum; nil if it does not fit the result's type, or is NaN, as that of both
  ///   infinities is.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func sum<E: QueryExpression>(_ expression: E) throws -> E.Value.Sum?
  where E.Element == Element, E.Value: QueryNumber { try value(.sum(expression)) }

  /// The average of a number over all objects for which it is known; nil if there are none, or if
  /// it is NaN.
  /// - Parameter expression: A number.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func average<E: QueryExpression>(_ expression: E) throws -> Double?
  where E.Element == Element, E.Value: QueryNumber { try value(.average(expression)) }

  /// The least value of an expression; nil if it is known for no object.
  /// - Parameter expression: A value with an order.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func min<E: QueryExpression>(_ expression: E) throws -> E.Value?
  where E.Element == Element, E.Value: DflatFriendlyValue { try value(.min(expression)) }

  /// The greatest value of an expression; nil if it is known for no object.
  /// - Parameter expression: A value with an order.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func max<E: QueryExpression>(_ expression: E) throws -> E.Value?
  where E.Element == Element, E.Value: DflatFriendlyValue { try value(.max(expression)) }

  /// One aggregate over all objects.
  /// - Parameter aggregate: What to compute.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func value<Output>(_ aggregate: Aggregate<Output, Element>) throws -> Output {
    let query = query
    let part = aggregate.part
    let accumulator = try reading(query, [part.expression]) {
      try $0.accumulate([part], query)[0]
    }
    return aggregate.output(accumulator.result)
  }

  /// Several aggregates over all objects, computed together.
  ///
  ///     let (number, likes, latest) = try posts.values(.count, .sum(Post.likes), .max(Post.date))
  ///
  /// - Parameter aggregates: What to compute.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func values<each Output>(
    _ aggregates: repeat Aggregate<each Output, Element>
  ) throws -> (repeat each Output) {
    let query = query
    var parts: [AggregatePart] = []
    for aggregate in repeat each aggregates { parts.append(aggregate.part) }
    let results = try reading(query, parts.map(\.expression)) {
      try $0.accumulate(parts, query)
    }.map(\.result)
    return Aggregate<Int, Element>.outputs(repeat each aggregates, from: results)
  }

  /// The different values of an expression, in ascending order. Objects for which it is unknown, as
  /// a missing field is, add nothing; whether there are such objects tells
  /// `where(Post.tag == nil).exists()`.
  ///
  /// Without a condition, SQLite goes from value to value in an index that begins with the field,
  /// if its values are few; see ``explain(distinct:)``.
  /// - Parameter expression: Any value.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func distinct<E: QueryExpression>(_ expression: E) throws -> [E.Value]
  where E.Element == Element, E.Value: DflatFriendlyValue {
    let decoder = expression.decoder
    let query = query.eachValueOnce()
    let parts = GroupedParts(keys: [expression.expression], parts: [])
    let groups = try reading(query, parts.expressions) { try $0.group(parts, query).results }
    return groups.compactMap { $0.keys[0] }.compactMap { decoder($0) }
  }

  /// The groups of the objects that have the same values of some expressions.
  func groups(_ parts: GroupedParts) throws -> [GroupResult] {
    let query = query
    return try reading(query, parts.expressions) { try $0.group(parts, query).results }
  }
}
