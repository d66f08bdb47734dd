// QueryBuilder: the public API of queries.

/// A query for the objects of one type. It holds no resources, may be used any number of times, and
/// keeps its workspace.
@frozen
public struct QueryBuilder<Element: Atom>: Sendable {
  @usableFromInline let workspace: WorkspaceCore
  /// nil inside a transaction or snapshot, which ends before the workspace.
  @usableFromInline let lifetime: WorkspaceLifetime?

  /// For authors of engines: programs call `fetch(for:)` of a workspace.
  @inlinable
  package init(_ workspace: WorkspaceCore) {
    self.workspace = workspace
    lifetime = nil
  }

  /// Begins a query that may be used after the program has released its workspace.
  @inlinable
  init(keeping lifetime: WorkspaceLifetime) {
    workspace = lifetime.core
    self.lifetime = lifetime
  }

  /// Fetches the objects that match `condition`, on the calling thread.
  ///
  /// Inside a transaction this sees the transaction's own changes; inside a snapshot, the
  /// snapshot's state; otherwise everything committed when it begins. It never waits for a writer.
  ///
  ///     let recent = dflat.fetch(for: Post.self).where(
  ///       Post.priority > 3, limit: .limit(20), orderBy: [Post.createdAt.descending])
  ///
  /// - Parameters:
  ///   - condition: Objects for which it is unknown (a missing field) are left out.
  ///   - limit: At most this many, the first ones in `orderBy`.
  ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
  /// - Returns: A snapshot in memory. On a storage error the result is empty, and the error goes to
  ///   the workspace's error hook; a damaged row is left out and reported there.
  @inlinable
  public func `where`<C: QueryExpression<Bool, Element>>(
    _ condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) -> FetchedResult<Element> {
    if let key = condition._key, case .noLimit = limit, orderBy.isEmpty { return fetch(key) }
    return fetch(query(condition._node, limit, orderBy))
  }

  /// The same for a condition without a type of its own, as `.always`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func `where`(
    _ condition: Condition<Element>, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) -> FetchedResult<Element> {
    fetch(query(condition._node, limit, orderBy))
  }

  /// Fetches all objects, on the calling thread; see `where(_:limit:orderBy:)`.
  @inlinable
  public func all(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) -> FetchedResult<Element> {
    fetch(query(nil, limit, orderBy))
  }

  /// Explains how `where` with the same arguments would be executed now.
  /// - Throws: `StorageError`.
  public func explain<C: QueryExpression<Bool, Element>>(
    where condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> QueryExplanation {
    try workspace.explain(query(condition._node, limit, orderBy))
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: `StorageError`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func explain(
    where condition: Condition<Element>, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> QueryExplanation {
    try workspace.explain(query(condition._node, limit, orderBy))
  }

  /// Explains how `all` with the same arguments would be executed now.
  /// - Throws: `StorageError`.
  public func explain(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> QueryExplanation {
    try workspace.explain(query(nil, limit, orderBy))
  }

  @inlinable
  func query(_ condition: Node?, _ limit: Limit, _ orderBy: [OrderBy<Element>]) -> Query {
    let count: Int? = if case .limit(let count) = limit { count } else { nil }
    // A closure: key paths of generic types are looked up by the runtime, each time.
    return Query(
      schema: Element._schema, condition: condition, order: orderBy.map { $0.term }, limit: count)
  }

  @inlinable
  func fetch(_ key: KeyValues) -> FetchedResult<Element> {
    switch workspace.found(key, of: Element._schema) {
    case .committed(let row): FetchedResult([Element(_row: row)], .key(key))
    case .other(let row, let origin):
      FetchedResult(row.map { [Element(_row: $0)] } ?? [], origin)
    }
  }

  @inlinable
  func fetch(_ query: Query) -> FetchedResult<Element> {
    let origin = workspace.origin(of: query)
    return result(workspace.rows(query, origin), origin)
  }

  @inlinable
  func result(_ rows: consuming RowBuffer, _ origin: ResultOrigin) -> FetchedResult<Element> {
    FetchedResult(rows.map { Element(_row: $0) }, origin)
  }
}
