// What a workspace reads for the program: inside a transaction in its view, inside a snapshot in its state, otherwise what is committed.

import Dispatch

extension WorkspaceCore {
  /// The rows of a query. Errors go to the hook and give an empty result.
  @usableFromInline
  func rows(_ query: Query, _ origin: ResultOrigin) -> RowBuffer {
    do { return try fetch(query) } catch {
      readingFailed(error)
      origin.distrust()
      return RowBuffer()
    }
  }

  /// The object of a query for one; see `rows`.
  func row(_ query: Query) -> Row? {
    do { return try fetchRow(query) } catch {
      readingFailed(error)
      return nil
    }
  }

  /// The same with errors.
  func fetchRow(_ query: Query) throws -> Row? {
    let rows = try fetch(query)
    return rows.count > 0 ? rows[0] : nil
  }

  /// A query of the program's has failed, which cannot throw.
  private func readingFailed(_ error: any Error) {
    let transaction = ThreadContext.current.transaction(of: self)
    if transaction?.willTell(error) != true {
      report(isAboutShutdown(error) ? WorkspaceError.shutDown : error)
    }
    // What a transaction does because it found nothing must not be kept.
    transaction?.doom(error)
  }

  /// Tells the error hook why something could not be read that the workspace wanted to know, unless there is nothing to be read any
  /// more.
  func reportReading(_ error: any Error) {
    if !isAboutShutdown(error) { report(error) }
  }

  private func isAboutShutdown(_ error: any Error) -> Bool {
    (error as? StorageError)?.cause == .closed || (error as? WorkspaceError) == .shutDown
  }

  /// Where the result of a query that is fetched now will come from.
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
    return ResultOrigin(query, timestamp: timestamp, workspace: number)
  }

  /// The rows of a query: inside a transaction of this workspace its own view, inside a snapshot the snapshot's, otherwise
  /// what is committed.
  @usableFromInline
  func fetch(_ query: Query) throws -> RowBuffer {
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) {
      return try transaction.fetch(query)
    }
    if let plan = migrations.plan(for: query.schema) {
      return try fetch(query, migratedBy: plan)
    }
    if let open = context.snapshots[ObjectIdentifier(self)] {
      return try open.snapshot.rows(query, mark: open.mark(self))
    }
    let mark = ReadMark(timestamp: clock.now, reading: reading)
    if transactions.isClosed { throw WorkspaceError.shutDown }
    if let key = query.key {
      return RowBuffer(
        query.limit == 0 ? nil : try engine.row(of: query.schema, with: key, mark: mark))
    }
    return try engine.read(for: .query) { try $0.rows(query, mark: mark) }
  }

  /// Whether reading gives anything: always inside what began before the shutdown.
  var canRead: Bool {
    let context = ThreadContext.current
    return !transactions.isClosed || context.transaction(of: self) != nil
      || context.snapshots[ObjectIdentifier(self)] != nil
  }

  func explain(_ query: Query) throws -> QueryExplanation {
    let context = ThreadContext.current
    if let transaction = context.transaction(of: self) {
      return try transaction.explain(query)
    }
    if let snapshot = context.snapshots[ObjectIdentifier(self)] {
      return try snapshot.snapshot.explain(query)
    }
    return try engine.read(for: .query) { try $0.explain(query) }
  }

  /// Calls `closure` with one state of the data in view; see `Queryable`.
  public func fetchWithinASnapshot<T, E: Error>(_ closure: () throws(E) -> T) throws(E) -> T {
    let context = ThreadContext.current
    let key = ObjectIdentifier(self)
    // A transaction's view is consistent already, an outer snapshot is joined, and a closed workspace has nothing to show.
    if context.snapshots[key] != nil || context.transaction(of: self) != nil {
      return try closure()
    }
    snapshots.enter()
    defer { snapshots.leave() }
    if transactions.isClosed { return try closure() }
    let snapshot = engine.makeSnapshot(for: .query)
    context.snapshots[key] = OpenSnapshot(snapshot)
    defer {
      context.snapshots[key] = nil
      snapshot.close()
    }
    return try closure()
  }
}
