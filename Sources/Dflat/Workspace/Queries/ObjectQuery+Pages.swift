// Pages: a large result in parts, each asked for by itself.

/// A part of a query's result.
public struct QueryPage<Element: Atom>: Sendable {
  /// The objects, in the query's order.
  public let objects: [Element]
  /// Where the next page begins; nil if there is none.
  public let next: QueryCursor?
}

extension ObjectQuery {
  /// A part of the objects, in the query's order.
  ///
  ///     var page = try issues.page(size: 50)
  ///     while let next = page.next { page = try issues.page(size: 50, after: next) }
  ///
  /// A page begins behind the last object of the page before, whatever was inserted or deleted in
  /// between: an object that stays where it is in the order is on exactly one page. In the order of
  /// a key or index, or without an order, each page costs the same.
  ///
  /// - Parameters:
  ///   - size: The largest number of objects, at least 1.
  ///   - cursor: `next` of the page before; nil for the first page.
  /// - Returns: The objects, and where the next page begins.
  /// - Throws: `QueryError` if the cursor belongs to another query, or the size is below 1;
  ///   `StorageError`;
  ///   `WorkspaceError`.
  public func page(size: Int, after cursor: QueryCursor? = nil) throws -> QueryPage<Element> {
    try requireOpen()
    let (rows, next) = try core.page(of: query, size: size, after: cursor)
    return QueryPage(objects: rows.map { Element(_row: $0) }, next: next)
  }
}

extension WorkspaceCore {
  /// The rows of a part of a query's result, and where the next part begins.
  func page(
    of query: Query, size: Int, after cursor: QueryCursor?
  ) throws -> (rows: [Row], next: QueryCursor?) {
    try query.requireAnswerable()
    if size < 1 { throw QueryError.emptyPage(query.schema, size) }
    if query.order.contains(where: \.isRelevance) { throw QueryError.unstableOrder(query.schema) }
    if query.order.contains(where: \.node.followsRelations) {
      throw QueryError.relatedOrder(query.schema)
    }
    let fingerprint = query.fingerprint
    let start = try cursor?.position(in: query, fingerprint)
    let allowed = cursor == nil ? query.limit : cursor?.remaining
    // One more shows whether there is another page.
    let wanted = min(size, max(0, allowed ?? size), .max - 1)
    let rows = try fetch(
      Query(
        schema: query.schema, condition: query.condition, order: query.order,
        limit: wanted + (wanted == allowed ? 0 : 1), offset: start == nil ? query.offset : 0,
        start: start))
    let isLast = rows.count <= wanted
    let count = min(rows.count, wanted)
    if !isLast, count > 0, rows[count - 1].id < 0 { throw QueryError.unmigrated(query.schema) }
    let next =
      isLast || count == 0
      ? nil
      : QueryCursor(
        try RowPosition(behind: rows[count - 1], in: query), of: fingerprint,
        remaining: allowed.map { $0 - count })
    return ((0..<count).map { rows[$0] }, next)
  }
}
