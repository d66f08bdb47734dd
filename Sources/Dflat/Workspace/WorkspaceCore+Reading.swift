// Asking: rows, values and explanations of queries, for everything that programs ask.
//
// What is seen is chosen in WorkspaceCore+View.swift. Questions that cannot throw report their
// errors to the error hook.

extension WorkspaceCore {
  /// The rows of a query. On an error the result is empty, and the error goes to the hook.
  @usableFromInline
  func rows(_ query: Query, _ origin: ResultOrigin) -> RowBuffer {
    do { return try fetch(query) } catch {
      readingFailed(error)
      origin.markUntrusted()
      return RowBuffer()
    }
  }

  /// The row with a primary key; errors are handled as in `rows`.
  func row(of schema: EntitySchema, with key: some PrimaryKey) -> Row? {
    guard let key = key._keyValues(in: schema.primaryKey[...]) else { return nil }
    switch found(key, of: schema) {
    case .committed(let row): return row
    case .other(let row, _): return row
    }
  }

  /// What a fetch by key gives.
  @usableFromInline
  enum FoundRow {
    /// A committed row, which says itself when it was read.
    case committed(Row)
    /// A row of a transaction or snapshot, or none.
    case other(Row?, ResultOrigin)
  }

  /// The row with a primary key; errors are handled as in `rows`.
  @usableFromInline
  func found(_ key: KeyValues, of schema: EntitySchema) -> FoundRow {
    guard readsCommitted else {
      let query = Query(schema, key)
      let origin = origin(of: query)
      let rows = rows(query, origin)
      return .other(rows.count > 0 ? rows[0] : nil, origin)
    }
    let mark = markOfFetch()
    var timestamp = mark.timestamp
    do {
      if let row = try engine.row(of: schema, with: key, mark: mark) { return .committed(row) }
    } catch {
      readingFailed(error)
      timestamp = -1
    }
    return .other(
      nil, ResultOrigin(Query(schema, key), timestamp: timestamp, workspace: reading))
  }

  /// The first row of a query; throws errors.
  func fetchRow(_ query: Query) throws -> Row? {
    let rows = try fetch(query)
    return rows.count > 0 ? rows[0] : nil
  }

  /// Handles the error of a query that cannot throw.
  func readingFailed(_ error: any Error) {
    let transaction = ThreadContext.current.transaction(of: self)
    // The read throws it.
    if error is CancellationError, transaction == nil { return }
    if transaction?.reportsItself(error) != true {
      report(isAboutShutdown(error) ? WorkspaceError.shutDown : error)
    }
    // Changes that a transaction makes because it found nothing must not be committed.
    transaction?.markFailed(error)
  }

  /// Reports the error of a read that the workspace needed for itself to the error hook, unless the
  /// workspace is closed, or it was reported.
  func reportReading(_ error: any Error) {
    if !isAboutShutdown(error), !(error is Unmigrated) { report(error) }
  }

  private func isAboutShutdown(_ error: any Error) -> Bool {
    (error as? StorageError)?.cause == .closed || (error as? WorkspaceError) == .shutDown
  }

  /// The origin of the result of a query that is fetched now.
  @usableFromInline
  func origin(of query: Query) -> ResultOrigin {
    let timestamp: Int64 =
      switch place {
      case .transaction(let transaction): transaction.timestamp(of: query.schema)
      case .snapshot(let open): open.mark(self).timestamp
      case .committed, .nowhere: clock.now
      }
    return ResultOrigin(query, timestamp: timestamp, workspace: reading)
  }

  /// The rows of a query; see `withView`.
  @usableFromInline
  package func fetch(_ query: Query) throws -> RowBuffer {
    if readsCommitted, let key = query.key {
      try query.requireAnswerable()
      let row =
        query.limit == 0 ? nil : try engine.row(of: query.schema, with: key, mark: markOfFetch())
      return RowBuffer(row)
    }
    return try withView(for: query, wanting: .rows) { try $0.rows(.query(query), mark: $1) }
  }

  /// Calls `body` with the view that a query is answered from; see `withView`.
  /// - Parameter values: What else is computed from its objects.
  func reading<R>(
    _ query: Query, _ values: [ValueExpression] = [],
    _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try withView(for: query, values, wanting: .values) { view, _ in try body(view) }
  }

  /// The rows of a type whose ids are greater than `id`, in ascending order of ids; with nil the
  /// first ones.
  package func rows(of schema: EntitySchema, after id: Int64?, limit: Int) throws -> RowBuffer {
    try withView(for: Query(schema: schema), wanting: .rows) {
      try $0.rows(.after(schema, id: id, limit: limit), mark: $1)
    }
  }

  /// The number of rows of a query.
  package func count(_ query: Query) throws -> Int {
    try reading(query) { try $0.count(query) ?? $0.countRows(query) }
  }

  /// Explains how the objects of a query are found.
  package func explain(_ query: Query) throws -> QueryExplanation {
    try explain(query, values: nil)
  }

  /// Explains how a query is answered.
  /// - Parameter values: What is computed from its objects; nil if the objects are wanted.
  func explain(_ query: Query, values: [ValueExpression]?) throws -> QueryExplanation {
    try query.requireAnswerable(with: values ?? [])
    let explanation = try withView(for: query, values ?? [], wanting: .explanation) { view, _ in
      try view.explain(query, values)
    }
    let isRelated = values.map { !query.relatedTypes(with: $0).isEmpty } ?? false
    let reason = isRelated ? "it computes values across relations" : query.reasonToAskAgain
    return reason.map { explanation.askedAgain(because: $0) } ?? explanation
  }
}
