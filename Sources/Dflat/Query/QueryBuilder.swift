// QueryBuilder and FetchedResult: queries as programs write them, and what they get.

/// How many objects a query gives at most.
public enum Limit: Sendable {
  case noLimit
  /// The first ones of the ordered result. Zero and less give none.
  case limit(_: Int)
}

extension Limit: ExpressibleByIntegerLiteral {
  /// `limit: 10` is `limit: .limit(10)`.
  @inlinable
  public init(integerLiteral count: Int) { self = .limit(count) }
}

/// A query for the objects of one type. It holds no resource and may be used any number of times, or never.
@frozen
public struct QueryBuilder<Element: Atom>: Sendable {
  @usableFromInline let workspace: WorkspaceCore

  /// For the authors of engines: programs call `fetch(for:)` of a workspace.
  @inlinable
  public init(_ workspace: WorkspaceCore) {
    self.workspace = workspace
  }

  /// Fetches the objects for which `condition` is true, on the calling thread.
  ///
  /// Inside a transaction this sees the transaction's own changes; inside a snapshot, the snapshot's state; otherwise
  /// everything committed when it begins. It never waits for a writer.
  ///
  ///     let recent = dflat.fetch(for: Post.self).where(
  ///       Post.priority > 3, limit: .limit(20), orderBy: [Post.createdAt.descending])
  ///
  /// - Parameters:
  ///   - condition: Objects for which it is unknown (a missing field) are left out.
  ///   - limit: At most this many, the first ones in `orderBy`.
  ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
  /// - Returns: A snapshot in memory. An error of the storage gives an empty result and goes to the workspace's error hook; a
  ///   damaged row is left out and reported there.
  @inlinable
  public func `where`<C: QueryExpression<Bool, Element>>(
    _ condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
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

  /// Tells how `where` with the same arguments would be answered now.
  /// - Throws: `StorageError`.
  public func explain<C: QueryExpression<Bool, Element>>(
    where condition: C, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> QueryExplanation {
    try workspace.explain(query(condition._node, limit, orderBy))
  }

  /// Tells how `all` with the same arguments would be answered now.
  /// - Throws: `StorageError`.
  public func explain(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> QueryExplanation {
    try workspace.explain(query(nil, limit, orderBy))
  }

  @inlinable
  func query(_ condition: Node?, _ limit: Limit, _ orderBy: [OrderBy<Element>]) -> Query {
    let count: Int? = if case .limit(let count) = limit { count } else { nil }
    return Query(
      schema: Element._schema, condition: condition, order: orderBy.map(\.term), limit: count)
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

/// The objects that a query found, in order. It is immutable and may be shared between threads.
@frozen
public struct FetchedResult<Element: Atom>: RandomAccessCollection, Sendable {
  /// The objects.
  public let underlyingArray: [Element]
  /// Where it comes from; nil if it was made by hand.
  @usableFromInline let origin: ResultOrigin?

  /// A result made by hand. Only results of a workspace can be observed.
  @inlinable
  public init(_ array: [Element]) {
    underlyingArray = array
    origin = nil
  }

  @inlinable
  init(_ array: [Element], _ origin: ResultOrigin) {
    underlyingArray = array
    self.origin = origin
  }

  /// Zero.
  @inlinable
  public var startIndex: Int { 0 }
  /// The number of objects.
  @inlinable
  public var endIndex: Int { underlyingArray.count }
  /// The object at a position.
  @inlinable
  public subscript(position: Int) -> Element { underlyingArray[position] }
  /// The objects at some positions.
  @inlinable
  public subscript(bounds: Range<Int>) -> ArraySlice<Element> { underlyingArray[bounds] }
}

extension FetchedResult: Equatable {
  /// Element by element.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.underlyingArray == rhs.underlyingArray
  }
}

/// How a query is answered.
public struct QueryExplanation: Sendable {
  /// The statement in the engine's language; nil if it has none.
  public let statement: String?
  /// The engine's own plan, a line per step.
  public let plan: [String]
  /// The keys and indexes that narrow or order the rows, by table name.
  public let indexes: [String]
  /// What is evaluated row by row on bytes; nil if the statement says it all.
  public let rowByRow: String?
  /// Whether rows are sorted in memory after they were found.
  public let isSortedInMemory: Bool

  /// An explanation, as an engine gives it.
  public init(
    statement: String?, plan: [String], indexes: [String], rowByRow: String?,
    isSortedInMemory: Bool
  ) {
    self.statement = statement
    self.plan = plan
    self.indexes = indexes
    self.rowByRow = rowByRow
    self.isSortedInMemory = isSortedInMemory
  }
}
