// Queries whose types the compiler checks against those that a record's key or index begins with.
// There is one function per number of components, because Swift cannot express this once: two
// parameter packs cannot share the elements of a third one.
//
// If none of them matches, the compiler selects the unavailable overload and prints its message.

/// Finds records by queries: a store, in transactions of its own, or a transaction.
public protocol RecordSelecting {
  /// Finds the records that a query describes. Called by code that `@IndexKeyRecord` generates; it
  /// does not check types.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  func _select<Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent>(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record]
}

extension TransactionContext: RecordSelecting {}
extension Store: RecordSelecting {}

extension RecordSelecting {
  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord, A: QueryComponent, each Rest: QueryComponent>(
    query: Query<A>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    each Rest: QueryComponent
  >(
    query: Query<A, B, C>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones are rewritten after all have been
  /// found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, F: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E, F>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, F, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records whose whole key, treated as one component, satisfies an operator.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: The same errors as `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord>(
    query: Query<Record.IndexKey>
  ) throws -> sending [Record] {
    try _select(query: query)
  }

  /// Finds the records that a query describes, without a compile-time check of its types against
  /// the record's key.
  ///
  /// For functions that are generic over the record type. Elsewhere the compiler selects one of the
  /// functions of the same name that compare the types; if it selects this one, the types are
  /// wrong.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order of the operator.
  /// - Throws: `StoreError.queryMismatch` if the components are not of the types that the key
  ///   begins with; otherwise the same errors as the functions that compare the types.
  @available(
    *, deprecated,
    message:
      "the query's values are not known to be of the types that the record's key begins with; write Record.query(…)"
  )
  @_disfavoredOverload
  public func select<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    query: Query<repeat each Component, Last>
  ) throws -> sending [Record] {
    try query.check(against: Record.self)
    return try _select(query: query)
  }
}
