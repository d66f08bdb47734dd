// ObjectQuery: a query as a value, built step by step and answered in many ways.
//
// `fetch(for:)` gives objects; an `ObjectQuery` also counts, adds up, groups, projects and pages,
// without making objects. All of its answers throw their errors. Where it is asked decides what it
// sees: inside a transaction the transaction's own view, inside a snapshot the snapshot, otherwise
// committed data.

import Platform

/// A query for objects of one type.
///
///     let open = dflat.query(Issue.self).where(Issue.state == .open)
///     let number = try open.count()
///     let newest = try open.orderBy(Issue.created.descending).limit(20).fetch()
///
/// It is a value: each step gives a new query, and it may be kept and asked any number of times. It
/// holds no resources and keeps its workspace. In `read` and `write`, `query(_:)` of the context
/// gives a query that is valid inside the closure.
public struct ObjectQuery<Element: Atom>: Sendable {
  let core: WorkspaceCore
  /// nil inside a transaction or snapshot, which ends before the workspace.
  private let lifetime: WorkspaceLifetime?
  private let scope: ContextScope?
  private(set) var condition: Node?
  private(set) var order: [OrderTerm] = []
  private(set) var limit: Int?
  private(set) var offset = 0

  init(_ core: WorkspaceCore, scope: ContextScope? = nil) {
    self.core = core
    lifetime = nil
    self.scope = scope
  }

  /// Begins a query that may be asked after the program has released its workspace.
  init(keeping lifetime: WorkspaceLifetime) {
    core = lifetime.core
    self.lifetime = lifetime
    scope = nil
  }

  // MARK: Building

  /// The objects for which also `condition` is true. Objects for which it is unknown are left out.
  public func `where`<C: QueryExpression<Bool, Element>>(_ condition: C) -> Self {
    var query = self
    query.condition = self.condition.map { .conjunction($0, condition._node) } ?? condition._node
    return query
  }

  /// The same for a condition without a type of its own, as `.always`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func `where`(_ condition: Condition<Element>) -> Self {
    var query = self
    query.condition = self.condition.map { .conjunction($0, condition._node) } ?? condition._node
    return query
  }

  /// The same objects in an order, which replaces the one before.
  /// - Parameter keys: Keys from most to least significant; ties are in order of insertion.
  public func orderBy(_ keys: OrderBy<Element>...) -> Self { orderBy(keys) }

  /// The same objects in an order, which replaces the one before.
  /// - Parameter keys: Keys from most to least significant; ties are in order of insertion.
  public func orderBy(_ keys: [OrderBy<Element>]) -> Self {
    var query = self
    query.order = keys.map { $0.term }
    return query
  }

  /// At most this many objects, from the beginning of the order after the offset. Zero gives none;
  /// with a negative number, asking the query throws `QueryError`.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// Leaves out this many objects at the beginning of the order. They are still read, so a program
  /// that goes from page to page uses `page(size:after:)`. With a negative number, asking the query
  /// throws `QueryError`.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }

  /// The query as data.
  var query: Query { query(condition, limit: limit) }

  /// The query as data, with another condition, limit or start.
  func query(
    _ condition: Node?, limit: Int?, start: RowPosition? = nil
  ) -> Query {
    Query(
      schema: Element._schema, condition: condition, order: order, limit: limit, offset: offset,
      start: start)
  }

  /// This query with a smaller limit.
  func first(_ count: Int) -> Query {
    query(condition, limit: limit.map { Swift.min($0, count) } ?? count)
  }

  /// This query from a position on.
  func query(from start: RowPosition?, limit: Int) -> Query {
    query(condition, limit: limit, start: start)
  }

  /// Throws if the query is used after its closure has ended, or has a negative limit or offset.
  func requireOpen() throws {
    try scope?.requireOpen()
    if offset < 0 || limit.map({ $0 < 0 }) == true { try query.requireAnswerable() }
  }

  /// Throws if the query belongs to another workspace, or is used after its closure has ended.
  func requireUse(in core: WorkspaceCore) throws {
    try requireOpen()
    if self.core !== core { throw QueryError.foreignWorkspace(Element._schema) }
  }

  /// Calls `body` with the view that the query is answered from.
  /// - Parameter values: What else is computed from its objects.
  func reading<R>(
    _ query: Query, _ values: [ValueExpression] = [],
    _ body: (any StorageReader) throws -> R
  ) throws -> R {
    try requireOpen()
    return try core.reading(query, values, body)
  }

  // MARK: Objects

  /// Fetches the objects.
  /// - Returns: The objects, which can be subscribed to.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func fetch() throws -> FetchedResult<Element> {
    try requireOpen()
    let query = query
    let origin = core.origin(of: query)
    return FetchedResult(try core.fetch(query).map { Element(_row: $0) }, origin)
  }

  /// The first object; nil if there is none.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func first() throws -> Element? {
    try requireOpen()
    return try core.fetchRow(first(1)).map { Element(_row: $0) }
  }

  /// The only object; nil if there is none.
  /// - Throws: `QueryError` if there are several; `StorageError`; `WorkspaceError`.
  public func only() throws -> Element? {
    try requireOpen()
    let rows = try core.fetch(first(2))
    if rows.count > 1 {
      throw QueryError(
        .severalObjects,
        "more than one \(Element._schema.layout.swiftName) matches \(conditionText)",
        "ask with a condition that only one object can satisfy, or use first()")
    }
    return rows.count == 0 ? nil : Element(_row: rows[0])
  }

  /// Explains how `fetch` would be executed now.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain() throws -> QueryExplanation {
    try requireOpen()
    return try core.explain(query)
  }

  /// Explains how `select` of some fields would be executed now.
  ///
  ///     try posts.explain(selecting: Post.feed, Post.date).isCovering
  ///
  /// - Parameter fields: The fields. With all of them in one index no object is read.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain<each V: QueryValue>(
    selecting fields: repeat Field<each V, Element>
  ) throws -> QueryExplanation {
    try requireOpen()
    var read: [FieldDescriptor] = []
    for field in repeat each fields { read.append(field.descriptor) }
    return try core.explain(query.reading(read))
  }

  /// Explains how `select` of some values would be executed now; see `explain(selecting:)` of
  /// fields.
  ///
  ///     try posts.explain(selecting: (Post.likes + 1).required).isCovering
  ///
  /// - Parameters:
  ///   - first: A value. What is computed is computed from the objects.
  ///   - more: More values.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain<First, each Selected>(
    selecting first: Selection<First, Element>, _ more: repeat Selection<each Selected, Element>
  ) throws -> QueryExplanation {
    var values = [first.expression]
    for value in repeat each more { values.append(value.expression) }
    return try explain(values)
  }

  /// Explains how `values` of some aggregates, or `value` of one, would be executed now.
  ///
  ///     try posts.explain(computing: .count, .sum(Post.likes)).isCovering
  ///
  /// With `.count` alone it tells how `count` would be executed.
  ///
  /// - Parameters:
  ///   - first: What to compute.
  ///   - more: What to compute besides.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain<First, each Output>(
    computing first: Aggregate<First, Element>, _ more: repeat Aggregate<each Output, Element>
  ) throws -> QueryExplanation {
    var values = [first.part.expression]
    for aggregate in repeat each more { values.append(aggregate.part.expression) }
    return try explain(values)
  }

  /// Explains how `distinct` of an expression would be executed now.
  ///
  ///     try posts.explain(distinct: Post.feed).isCovering
  ///
  /// The statement begins with `WITH RECURSIVE` where SQLite goes from value to value in an index
  /// and does not read all of its entries, unless it meets many different ones.
  ///
  /// - Parameter expression: The expression.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `CancellationError` in a `read`
  ///   whose task was cancelled.
  public func explain<E: QueryExpression>(distinct expression: E) throws -> QueryExplanation
  where E.Element == Element, E.Value: DflatFriendlyValue {
    try requireOpen()
    return try core.explain(query.eachValueOnce(), values: [expression.expression])
  }

  func explain(_ values: [ValueExpression]) throws -> QueryExplanation {
    try requireOpen()
    return try core.explain(query, values: values)
  }

  func explain(_ groups: GroupedParts) throws -> QueryExplanation {
    if !groups.onlyCount { return try explain(groups.expressions) }
    try requireOpen()
    return try core.explain(query.groupCounts(), values: groups.keys)
  }

  /// The condition with the schema's names.
  var conditionText: String {
    condition.map { "'\($0.text(in: Element._schema).shortened)'" } ?? "the query for all objects"
  }
}

extension Workspace {
  /// A query for the objects of a type.
  /// - Parameter type: The entity type.
  public func query<Element: Atom>(_ type: Element.Type) -> ObjectQuery<Element> {
    ObjectQuery(keeping: _lifetime)
  }
}

extension ReadContext {
  /// A query for the objects of a type, in this snapshot.
  /// - Parameter type: The entity type.
  public func query<Element: Atom>(_ type: Element.Type) -> ObjectQuery<Element> {
    ObjectQuery(core, scope: scope)
  }
}

extension WriteContext {
  /// A query for the objects of a type, in the transaction's own view.
  /// - Parameter type: One of the transaction's types; asking about another one throws
  ///   `WorkspaceError`.
  public func query<Element: Atom>(_ type: Element.Type) -> ObjectQuery<Element> {
    ObjectQuery(transaction.core, scope: scope)
  }
}
