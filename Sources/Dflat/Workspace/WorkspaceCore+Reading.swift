// What a read of the program sees: inside a transaction its own view, inside a snapshot that
// snapshot, otherwise committed data.

import Dispatch

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

  /// Whether this thread reads what is committed, as it is stored, and nothing forbids it.
  private var readsCommitted: Bool {
    ThreadContext.isOutside && !FunctionThread.isInside && migrations.isEmpty
      && !transactions.isClosed
  }

  /// The first row of a query; throws errors.
  func fetchRow(_ query: Query) throws -> Row? {
    let rows = try fetch(query)
    return rows.count > 0 ? rows[0] : nil
  }

  /// Handles the error of a query that cannot throw.
  private func readingFailed(_ error: any Error) {
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
  /// workspace is closed.
  func reportReading(_ error: any Error) {
    if !isAboutShutdown(error) { report(error) }
  }

  private func isAboutShutdown(_ error: any Error) -> Bool {
    (error as? StorageError)?.cause == .closed || (error as? WorkspaceError) == .shutDown
  }

  /// The origin of the result of a query that is fetched now.
  @usableFromInline
  func origin(of query: Query) -> ResultOrigin {
    let context = ThreadContext.current
    let timestamp: Int64 =
      if let transaction = context.transaction(of: self) {
        transaction.timestamp(of: query.schema)
      } else if let open = context.snapshots[ObjectIdentifier(self)] {
        open.mark(self).timestamp
      } else {
        clock.now
      }
    return ResultOrigin(query, timestamp: timestamp, workspace: reading)
  }

  /// The rows of a query: inside a transaction of this workspace its own view, inside a snapshot
  /// that snapshot, otherwise committed data.
  @usableFromInline
  func fetch(_ query: Query) throws -> RowBuffer {
    try query.requireAnswerable()
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) {
      return try transaction.fetch(query)
    }
    if query.followsRelations {
      return try following { view, mark in try view(query.schema).rows(query, mark: mark) }
    }
    if let plan = migrations.plan(for: query.schema) {
      return try fetch(query, migratedBy: plan)
    }
    if let open = context.snapshots[ObjectIdentifier(self)] {
      return try open.snapshot.rows(query, mark: open.mark(self))
    }
    if transactions.isClosed { throw WorkspaceError.shutDown }
    let mark = markOfFetch()
    if let key = query.key {
      return RowBuffer(
        query.limit == 0 ? nil : try engine.row(of: query.schema, with: key, mark: mark))
    }
    return try engine.read(for: .query) { try $0.rows(query, mark: mark) }
  }

  /// Calls `body` with the view that a query is answered from; see `fetch`.
  /// - Parameter values: What else is computed from its objects.
  func reading<R>(
    _ query: Query, _ values: [ValueExpression] = [],
    _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try query.requireAnswerable(with: values)
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) {
      return try transaction.reading(query, values, body)
    }
    if !query.relatedTypes(with: values).isEmpty {
      return try following { view, _ in try body(view(query.schema)) }
    }
    if let plan = migrations.plan(for: query.schema) {
      return try body(MigratingReader(self, plan))
    }
    if let open = context.snapshots[ObjectIdentifier(self)] { return try body(open.snapshot) }
    if transactions.isClosed { throw WorkspaceError.shutDown }
    return try engine.read(for: .query, body)
  }

  /// Calls `body` with a function that gives the views of types in one snapshot. The views answer
  /// queries with relations. Used outside of transactions.
  private func following<R: ~Copyable>(
    _ body: ((EntitySchema) throws -> any StorageReader, ReadMark) throws -> R
  ) throws -> R {
    try fetchWithinASnapshot { () throws -> R in
      guard let open = ThreadContext.current.snapshots[ObjectIdentifier(self)] else {
        throw WorkspaceError.shutDown
      }
      func view(_ schema: EntitySchema) -> any StorageReader {
        migrations.plan(for: schema).map { MigratingReader(self, $0) } ?? open.snapshot
      }
      return try body(
        { FollowingReader(view($0), RelationResolver { view($0) }) }, open.mark(self))
    }
  }

  /// Whether reading is possible. Inside transactions and snapshots that began before the shutdown
  /// it always is.
  var canRead: Bool {
    let context = ThreadContext.current
    return !transactions.isClosed || context.transaction(of: self) != nil
      || context.snapshots[ObjectIdentifier(self)] != nil
  }

  /// Explains how a query is answered.
  /// - Parameter values: What is computed from its objects; nil if the objects are wanted.
  func explain(_ query: Query, values: [ValueExpression]? = nil) throws -> QueryExplanation {
    try query.requireAnswerable(with: values ?? [])
    let isMaintained = query.relatedTypes(with: values ?? []).isEmpty
    return try explanation(of: query, values).following(isMaintained ? .maintained : .askedAgain)
  }

  private func explanation(
    of query: Query, _ values: [ValueExpression]?
  ) throws -> QueryExplanation {
    if FunctionThread.isInside { throw WorkspaceError.calledByFunction }
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) {
      return try transaction.explain(query, values)
    }
    if !query.relatedTypes(with: values ?? []).isEmpty {
      return try following { view, _ in try view(query.schema).explain(query, values) }
    }
    if let snapshot = context.snapshots[ObjectIdentifier(self)] {
      return try snapshot.snapshot.explain(query, values)
    }
    return try engine.read(for: .query) { try $0.explain(query, values) }
  }

  /// Calls `closure` with a snapshot of the data; see `Queryable`.
  @usableFromInline package func fetchWithinASnapshot<T: ~Copyable, E: Error>(
    _ closure: () throws(E) -> T
  ) throws(E) -> T {
    try withSnapshot(for: .query, closure)
  }

  /// Calls `closure` with a snapshot of the data, which this thread uses for all that it reads.
  func withSnapshot<T: ~Copyable, E: Error>(
    for purpose: ReadPurpose, _ closure: () throws(E) -> T
  ) throws(E) -> T {
    let context = ThreadContext.current
    let key = ObjectIdentifier(self)
    // A transaction's view is consistent already, an outer snapshot is joined, and a closed
    // workspace cannot be read.
    if context.snapshots[key] != nil || context.transaction(of: self) != nil {
      return try closure()
    }
    snapshots.enter()
    defer { snapshots.leave() }
    if transactions.isClosed { return try closure() }
    let token = lastKnownToken
    let snapshot = engine.makeSnapshot(for: purpose)
    context.snapshots[key] = OpenSnapshot(snapshot, since: token)
    defer {
      context.snapshots[key] = nil
      snapshot.close()
    }
    let result = try closure()
    do { try snapshot.confirm() } catch { readingFailed(error) }
    return result
  }

  /// Throws an error if what `body` has read in the snapshot of this thread cannot be confirmed. An
  /// outer call confirms its own.
  func confirming<R>(_ body: () throws -> R) throws -> R {
    let context = ThreadContext.current
    let key = ObjectIdentifier(self)
    if context.snapshots[key] != nil || context.transaction(of: self) != nil { return try body() }
    return try fetchWithinASnapshot { () throws -> R in
      let result = try body()
      try context.snapshots[key]?.snapshot.confirm()
      return result
    }
  }
}
