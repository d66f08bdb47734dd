// Queries whose types the compiler checks against those that a record's key or index begins with.
// There is one function per number of components, because Swift cannot express this once: two
// parameter packs cannot share the elements of a third one.
//
// If none of them matches, the compiler selects the unavailable overload and prints its message.

extension RecordSet {
  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<A: QueryComponent, each Rest: QueryComponent>(
    _ query: Query<A>
  ) -> RecordSet where Record.IndexKey == Tuple<A, repeat each Rest> {
    _query(query)
  }

  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<A: QueryComponent, B: QueryComponent, each Rest: QueryComponent>(
    _ query: Query<A, B>
  ) -> RecordSet where Record.IndexKey == Tuple<A, B, repeat each Rest> {
    _query(query)
  }

  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, each Rest: QueryComponent
  >(
    _ query: Query<A, B, C>
  ) -> RecordSet where Record.IndexKey == Tuple<A, B, C, repeat each Rest> {
    _query(query)
  }

  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent,
    each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D>
  ) -> RecordSet where Record.IndexKey == Tuple<A, B, C, D, repeat each Rest> {
    _query(query)
  }

  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent, E: QueryComponent,
    each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D, E>
  ) -> RecordSet where Record.IndexKey == Tuple<A, B, C, D, E, repeat each Rest> {
    _query(query)
  }

  /// The records that a query by the key describes.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent, E: QueryComponent,
    F: QueryComponent, each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D, E, F>
  ) -> RecordSet where Record.IndexKey == Tuple<A, B, C, D, E, F, repeat each Rest> {
    _query(query)
  }

  /// The records whose whole key, treated as one component, satisfies an operator.
  ///
  /// - Parameter query: The query.
  /// - Returns: The set.
  @inlinable
  public static func query(_ query: Query<Record.IndexKey>) -> RecordSet { _query(query) }

  /// Cannot be called: the types do not match.
  ///
  /// - Parameter query: The query.
  /// - Returns: Nothing.
  @available(
    *, unavailable,
    message:
      "the query's values are not of the types that the record's key begins with; write Record.query(…), which has their labels"
  )
  @_disfavoredOverload
  public static func query<each Component: QueryComponent, Last: QueryComponent>(
    _ query: Query<repeat each Component, Last>
  ) -> RecordSet {
    _query(query)
  }
}

extension RecordSet {
  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<A: QueryComponent, each Rest: QueryComponent>(
    _ query: Query<A>, index: RecordIndex<Record, A, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<A: QueryComponent, B: QueryComponent, each Rest: QueryComponent>(
    _ query: Query<A, B>, index: RecordIndex<Record, A, B, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, each Rest: QueryComponent
  >(
    _ query: Query<A, B, C>, index: RecordIndex<Record, A, B, C, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent,
    each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D>, index: RecordIndex<Record, A, B, C, D, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent, E: QueryComponent,
    each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D, E>, index: RecordIndex<Record, A, B, C, D, E, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// The records that a query by an index describes.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: The set.
  @inlinable
  public static func query<
    A: QueryComponent, B: QueryComponent, C: QueryComponent, D: QueryComponent, E: QueryComponent,
    F: QueryComponent, each Rest: QueryComponent
  >(
    _ query: Query<A, B, C, D, E, F>, index: RecordIndex<Record, A, B, C, D, E, F, repeat each Rest>
  ) -> RecordSet {
    _query(query, index: index.position)
  }

  /// Cannot be called: the types do not match.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - index: The index.
  /// - Returns: Nothing.
  @available(
    *, unavailable,
    message:
      "the query's values are not of the types that the index begins with; see its declaration"
  )
  @_disfavoredOverload
  public static func query<each Value: QueryComponent, Last: QueryComponent, each Component>(
    _ query: Query<repeat each Value, Last>, index: RecordIndex<Record, repeat each Component>
  ) -> RecordSet {
    _query(query, index: index.position)
  }
}

extension TransactionContext {
  /// Cannot be called: it would accept a query of any types.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - recordType: The type of the records.
  /// - Returns: Nothing.
  @available(
    *, unavailable,
    message:
      "nothing compares these types with the key's; write count(Record.query(…)), which has their labels"
  )
  public func count<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Component, Last>, recordType: Record.Type
  ) throws -> Int {
    try count(._query(query) as RecordSet<Record>)
  }

  /// Cannot be called: it would accept a query of any types.
  ///
  /// - Parameters:
  ///   - query: The query.
  ///   - recordType: The type of the records.
  /// - Returns: Nothing.
  @available(
    *, unavailable,
    message:
      "nothing compares these types with the key's; write delete(Record.query(…)), which has their labels"
  )
  public func delete<
    Record: IndexKeyRecord, each Component: QueryComponent, Last: QueryComponent
  >(
    _ query: Query<repeat each Component, Last>, recordType: Record.Type
  ) throws -> Int {
    try delete(._query(query) as RecordSet<Record>)
  }
}
