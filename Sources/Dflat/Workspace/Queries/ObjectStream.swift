// ObjectStream: the objects of a query one by one, with bounded memory.
//
// Objects are read in portions from one view of the data. A portion begins behind the last row of
// the portion before. Invariants:
//
//  - Outside of transactions and snapshots an iteration has a snapshot of its own, which is closed
//    when the iteration ends or its iterator is released, or when the workspace is shut down.
//  - A query is read in one portion if its rows must be sorted or are being migrated, if its order
//    is that of a search's relevance, and in a transaction, which may change what it has not read
//    yet.

/// The objects of a query, read while they are iterated over.
///
///     for article in try articles.stream() { try index(article) }
///
/// All objects of an iteration are from one state of the data. An iteration that holds a snapshot
/// keeps the storage from reusing space, so it should not pause for long. If reading fails, or the
/// workspace is shut down, the iteration ends, and the error goes to the workspace's error hook and
/// to ``failure``. In `write` the objects are read at once, so that changes made in the loop do not
/// change what it visits.
public struct ObjectStream<Element: Atom>: Sequence {
  fileprivate let query: ObjectQuery<Element>
  fileprivate let portion: Int
  private let failed = StreamFailure()

  fileprivate init(_ query: ObjectQuery<Element>, portion: Int) {
    self.query = query
    self.portion = portion
  }

  /// Why the last iteration ended before its end; nil if it did not.
  public var failure: (any Error)? { failed.error }

  /// Begins an iteration.
  public func makeIterator() -> Iterator {
    failed.error = nil
    return Iterator(query, portion, failed)
  }

  fileprivate final class StreamFailure {
    var error: (any Error)?
  }

  /// An iteration over the objects. It is used where it was made: inside of the same transaction or
  /// snapshot, if it was made in one.
  public final class Iterator: IteratorProtocol {
    private let query: ObjectQuery<Element>
    private let portion: Int
    private let failed: StreamFailure
    private var snapshot: IterationSnapshot?
    private var objects: [Element].Iterator?
    private var start: RowPosition?
    private var remaining: Int
    private var isLast = false

    fileprivate init(_ query: ObjectQuery<Element>, _ portion: Int, _ failed: StreamFailure) {
      self.query = query
      self.portion = portion
      self.failed = failed
      // With a negative limit the first portion throws.
      remaining = query.limit.map { Swift.max(0, $0) } ?? .max
      snapshot = query.core.makeSnapshotUnlessInside()
    }

    deinit { close() }

    /// The next object.
    public func next() -> Element? {
      while true {
        if let object = objects?.next() { return object }
        objects = nil
        if failed.error != nil {
          close()
          return nil
        }
        do {
          if isLast {
            try snapshot?.confirm()
            close()
            return nil
          }
          try readPortion()
        } catch {
          failed.error = error
          // The read that was cancelled throws it.
          if !(error is CancellationError) { query.core.report(error) }
        }
      }
    }

    private func readPortion() throws {
      let whole = query.query
      try query.requireOpen()
      let count = Swift.min(portion, remaining)
      let part = Query(
        schema: whole.schema, condition: whole.condition, order: whole.order, limit: count,
        offset: start == nil ? whole.offset : 0, start: start)
      let isWhole = start == nil && isReadAsAWhole(part)
      let rows = try rows(isWhole ? whole : part)
      isLast = isWhole || rows.count < count || rows.count == remaining
      remaining -= rows.count
      if !isLast, let last = rows.last { start = try RowPosition(behind: last, in: whole) }
      objects = rows.map { Element(_row: $0) }.makeIterator()
    }

    private func rows(_ part: Query) throws -> [Row] {
      try query.core.withView(for: part, wanting: .rows, in: snapshot) { view, mark in
        try view.rows(.query(part), mark: mark).map { $0 }
      }
    }

    /// - Parameter part: The first portion.
    private func isReadAsAWhole(_ part: Query) -> Bool {
      let core = query.core
      if core.migrations.plan(for: part.schema) != nil || core.isInTransaction { return true }
      if part.order.isEmpty { return false }
      // The positions of rows in such an order are not in the rows: related values are in others,
      // and an index knows more about relevance than the row.
      if part.order.contains(where: { $0.node.followsRelations || $0.isRelevance }) { return true }
      // If the plan cannot be told, reading throws the error, or there is nothing to read.
      let explanation = try? core.withView(for: part, wanting: .explanation, in: snapshot) {
        view, _ in
        try view.explain(part)
      }
      return explanation?.isSortedInMemory ?? false
    }

    private func close() {
      guard let snapshot else { return }
      self.snapshot = nil
      query.core.iterations.close(snapshot)
    }
  }
}

extension ObjectQuery {
  /// The objects one by one, in the query's order, with memory that does not depend on their
  /// number, unless they have to be sorted or are in the order of a search's relevance.
  ///
  /// - Parameter portion: How many objects are read at a time.
  /// - Throws: `WorkspaceError`. See ``ObjectStream`` for errors while reading.
  public func stream(portion: Int = 512) throws -> ObjectStream<Element> {
    require(portion > 0, "stream(portion:) was called with \(portion)")
    try requireOpen()
    if !core.canRead { throw WorkspaceError.shutDown }
    return ObjectStream(self, portion: portion)
  }
}

extension WorkspaceCore {
  /// Whether the current thread is in a transaction of the workspace.
  fileprivate var isInTransaction: Bool {
    if case .transaction = place { true } else { false }
  }

  /// A snapshot for an iteration; nil inside a transaction or snapshot, and for a closed workspace.
  fileprivate func makeSnapshotUnlessInside() -> IterationSnapshot? {
    if case .committed = place { iterations.open(engine) } else { nil }
  }
}
