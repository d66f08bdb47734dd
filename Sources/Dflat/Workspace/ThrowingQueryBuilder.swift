// ThrowingQueryBuilder: queries that throw their errors.

import Platform

/// A query for the objects of one type, inside `read` or `write`.
///
///     let recent = try context.fetch(for: Post.self).where(Post.priority > 3)
public struct ThrowingQueryBuilder<Element: Atom> {
  let builder: QueryBuilder<Element>
  let scope: ContextScope

  /// Fetches the objects that match `condition`; see `QueryBuilder`.
  ///
  /// - Parameters:
  ///   - condition: Objects for which it is unknown (a missing field) are left out.
  ///   - limit: At most this many, the first ones in `orderBy`.
  ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
  /// - Throws: `StorageError`, or `WorkspaceError` if the context is used after its closure has
  ///   ended. A damaged row is left out, and reported to the workspace's error hook.
  public func `where`<C: QueryExpression<Bool, Element>>(
    _ condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> FetchedResult<Element> {
    try fetch(builder.query(condition._node, limit, orderBy))
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: The same errors.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func `where`(
    _ condition: Condition<Element>, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> FetchedResult<Element> {
    try fetch(builder.query(condition._node, limit, orderBy))
  }

  /// Fetches all objects; see `where(_:limit:orderBy:)`.
  ///
  /// - Parameters:
  ///   - limit: At most this many, the first ones in `orderBy`.
  ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
  /// - Throws: The same errors as `where`.
  public func all(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> FetchedResult<Element> {
    try fetch(builder.query(nil, limit, orderBy))
  }

  private func fetch(_ query: Query) throws -> FetchedResult<Element> {
    try scope.requireOpen()
    let origin = builder.workspace.origin(of: query)
    return builder.result(try builder.workspace.fetch(query), origin)
  }
}

/// Whether the closure of a context is still running.
final class ContextScope: Sendable {
  private let hasEnded = Atomic(false)

  func close() { hasEnded.store(true, ordering: .releasing) }

  func requireOpen() throws {
    if hasEnded.load(ordering: .acquiring) { throw WorkspaceError.escapedContext }
  }
}
