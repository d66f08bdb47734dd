// Queries whose types the compiler compares with those that a record's key, or an index, begins with: a function for each number of
// components. Swift has no way to say it once, for two packs of types cannot share the elements of a third one.
//
// Where no function fits, the one that is unavailable is what the compiler finds, and its message is what it says.

extension TransactionContext {
  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord, A: QueryComponent, each Rest: QueryComponent>(
    query: Query<A>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    each Rest: QueryComponent
  >(
    query: Query<A, B, C>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, F: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E, F>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, F, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records whose key, as one component, fits an operator.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord>(
    query: Query<Record.IndexKey>
  ) throws -> sending [Record] {
    try _select(query: query)
  }
}

extension Store {
  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord, A: QueryComponent, each Rest: QueryComponent>(
    query: Query<A>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    each Rest: QueryComponent
  >(
    query: Query<A, B, C>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records that a query describes. Outdated ones among them are stored anew when all have been found.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<
    Record: IndexKeyRecord, A: QueryComponent, B: QueryComponent, C: QueryComponent,
    D: QueryComponent, E: QueryComponent, F: QueryComponent, each Rest: QueryComponent
  >(
    query: Query<A, B, C, D, E, F>
  ) throws -> sending [Record] where Record.IndexKey == Tuple<A, B, C, D, E, F, repeat each Rest> {
    try _select(query: query)
  }

  /// Finds the records whose key, as one component, fits an operator.
  ///
  /// - Parameter query: The query.
  /// - Returns: The records, in the order that the operator has.
  /// - Throws: As `select(_:)`.
  @inlinable
  public func select<Record: IndexKeyRecord>(
    query: Query<Record.IndexKey>
  ) throws -> sending [Record] {
    try _select(query: query)
  }
}
