// ObjectStream: the objects of a query one by one, with bounded memory.
//
// Objects are read in portions from one view of the data. A portion begins behind the last row of
// the portion before. Invariants:
//
//  - Outside of transactions and snapshots an iteration has a snapshot of its own, which is closed
//    when the iteration ends or its iterator is released.
//  - A query whose rows must be sorted, or are being migrated, is read in one portion.

import Dispatch

/// The objects of a query, read while they are iterated over.
///
///     for article in try articles.stream() { try index(article) }
///
/// All objects of an iteration are from one state of the data. An iteration that holds a snapshot
/// keeps the storage from reusing space, so it should not pause for long. If reading fails, the
/// iteration ends, and the error goes to the workspace's error hook and to ``failure``.
public struct ObjectStream<Element: Atom>: Sequence {
  fileprivate let query: ObjectQuery<Element>
  fileprivate let portion: Int
  private let ending = Mistake()

  fileprivate init(_ query: ObjectQuery<Element>, portion: Int) {
    self.query = query
    self.portion = portion
  }

  /// Why the last iteration ended before its end; nil if it did not.
  public var failure: (any Error)? { ending.error }

  /// Begins an iteration.
  public func makeIterator() -> Iterator {
    ending.error = nil
    return Iterator(query, portion, ending)
  }

  fileprivate final class Mistake {
    var error: (any Error)?
  }

  /// An iteration over the objects. It is used where it was made: inside of the same transaction or
  /// snapshot, if it was made in one.
  public final class Iterator: IteratorProtocol {
    private let query: ObjectQuery<Element>
    private let portion: Int
    private let ending: Mistake
    private var snapshot: (any StorageSnapshot)?
    private var objects: [Element].Iterator?
    private var start: RowPosition?
    private var remaining: Int
    private var isLast = false

    fileprivate init(_ query: ObjectQuery<Element>, _ portion: Int, _ ending: Mistake) {
      self.query = query
      self.portion = portion
      self.ending = ending
      remaining = query.limit.map { Swift.max(0, $0) } ?? .max
      let types = [Element._schema] + query.query.relatedTypes
      let isMigrating = types.contains(where: query.core.isMigrating)
      snapshot = isMigrating ? nil : query.core.makeSnapshotUnlessInside()
    }

    deinit { close() }

    /// The next object.
    public func next() -> Element? {
      while true {
        if let object = objects?.next() { return object }
        objects = nil
        if isLast || ending.error != nil {
          close()
          return nil
        }
        do { try readPortion() } catch {
          ending.error = error
          query.core.report(error)
        }
      }
    }

    private func readPortion() throws {
      let whole = query.query
      let isWhole = try start == nil && isReadAsAWhole(whole)
      let count = isWhole ? remaining : Swift.min(portion, remaining)
      let rows = try rows(
        isWhole
          ? whole
          : Query(
            schema: whole.schema, condition: whole.condition, order: whole.order, limit: count,
            offset: start == nil ? whole.offset : 0, start: start))
      isLast = isWhole || rows.count < count || rows.count == remaining
      remaining -= rows.count
      if !isWhole, rows.count > 0 {
        start = RowPosition(behind: rows[rows.count - 1], whole.order.map(SortKey.init))
      }
      objects = rows.map { Element(_row: $0) }.makeIterator()
    }

    private func rows(_ query: Query) throws -> RowBuffer {
      try self.query.requireOpen()
      return try view.map { try $0.rows(query, mark: .none) } ?? self.query.core.fetch(query)
    }

    /// The view of the snapshot.
    private var view: (any StorageReader)? {
      guard let snapshot, query.query.followsRelations else { return snapshot }
      return FollowingReader(snapshot)
    }

    private func isReadAsAWhole(_ query: Query) throws -> Bool {
      try self.query.requireOpen()
      if self.query.core.isMigrating(query.schema) { return true }
      if query.order.isEmpty { return false }
      // The positions of rows in such an order are not in the rows.
      if query.order.contains(where: \.node.followsRelations) { return true }
      return try (view?.explain(query) ?? self.query.core.explain(query)).isSortedInMemory
    }

    private func close() {
      guard let snapshot else { return }
      self.snapshot = nil
      snapshot.close()
      query.core.snapshots.leave()
    }
  }
}

extension ObjectQuery {
  /// The objects one by one, in the query's order, with memory that does not depend on their
  /// number, unless they have to be sorted.
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
  /// Whether objects of a type may still have to be migrated.
  fileprivate func isMigrating(_ schema: EntitySchema) -> Bool {
    migrations.plan(for: schema) != nil
  }

  /// A snapshot for a reader of its own; nil inside a transaction or snapshot, and for a closed
  /// workspace.
  fileprivate func makeSnapshotUnlessInside() -> (any StorageSnapshot)? {
    let context = ThreadContext.current
    if context.transaction(of: self) != nil || context.snapshots[ObjectIdentifier(self)] != nil {
      return nil
    }
    snapshots.enter()
    if transactions.isClosed {
      snapshots.leave()
      return nil
    }
    return engine.makeSnapshot(for: .query)
  }
}
