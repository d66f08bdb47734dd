// JoinQuery: pairs of objects of two types that have equal values.

/// Pairs of objects with equal values; see ``Workspace/join(_:_:on:_:)``.
///
/// Values are equal if a condition would find them equal: text without upper and lower case if
/// either is `caseInsensitive`. To join a `Date in seconds` with a `Date` is a programmer error, as
/// it is to compare them.
///
/// It is a value: each step gives a new query. `fetch` answers it once, and a workspace's
/// `subscribe` follows it.
public struct JoinQuery<Left: Atom, Right: Atom>: Sendable {
  private var left: ObjectQuery<Left>
  private var right: ObjectQuery<Right>
  /// The values that are equal: each of the first objects with that of the second at its place.
  private var values: (left: [ValueExpression], right: [ValueExpression])

  init(
    _ left: ObjectQuery<Left>, _ right: ObjectQuery<Right>,
    _ values: (left: ValueExpression, right: ValueExpression)
  ) {
    self.left = left
    self.right = right
    let (first, second) = values.left.equated(with: values.right)
    self.values = ([first], [second])
  }

  /// Only pairs that have another equal value, too: a compound key, for example.
  ///
  ///     let pairs = dflat.join(Concert.self, Venue.self, on: Concert.city, Venue.city)
  ///       .on(Concert.hall, Venue.number)
  ///
  /// - Parameters:
  ///   - left: A value of the first objects.
  ///   - right: A value of the second objects, of the same type.
  public func on<L: QueryExpression, R: QueryExpression>(_ left: L, _ right: R) -> Self
  where L.Element == Left, R.Element == Right, L.Value == R.Value {
    var query = self
    let (first, second) = left.expression.equated(with: right.expression)
    query.values.left.append(first)
    query.values.right.append(second)
    return query
  }

  /// Only pairs whose first object satisfies a condition.
  public func `where`<C: QueryExpression<Bool, Left>>(_ condition: C) -> Self {
    var query = self
    query.left = left.where(condition)
    return query
  }

  /// The same for a condition without a type of its own, as `.always`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func `where`(_ condition: Condition<Left>) -> Self {
    var query = self
    query.left = left.where(condition)
    return query
  }

  /// Only pairs whose second object satisfies a condition.
  @_disfavoredOverload
  public func `where`<C: QueryExpression<Bool, Right>>(_ condition: C) -> Self {
    self.where(second: condition)
  }

  /// Only pairs whose second object satisfies a condition: for a type that is joined with itself.
  public func `where`<C: QueryExpression<Bool, Right>>(second condition: C) -> Self {
    var query = self
    query.right = right.where(condition)
    return query
  }

  /// The same for a condition without a type of its own, as `.always`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func `where`(second condition: Condition<Right>) -> Self {
    var query = self
    query.right = right.where(condition)
    return query
  }

  /// The pairs in the order of their first objects, which replaces the one before.
  /// - Parameter keys: Keys from most to least significant; ties are in order of insertion.
  public func orderBy(_ keys: OrderBy<Left>...) -> Self {
    var query = self
    query.left = left.orderBy(keys)
    return query
  }

  /// Fetches the pairs, from one state: in the order of the first objects, and for each in the
  /// order of the second query, which is that of insertion unless it has another. Unknown values
  /// are equal to nothing.
  /// - Throws: `QueryError` for values of other objects; `StorageError`; `WorkspaceError`, also if
  ///   a transaction does not name both types.
  public func fetch() throws -> [(Left, Right)] {
    try left.requireOpen()
    return try pairs.fetch(in: core)
  }

  /// Explains how `fetch` would be executed now. The first objects are read, since the second ones
  /// are found by their values.
  /// - Returns: How the first objects are found, and how the second ones.
  /// - Throws: `QueryError` for values of other objects; `StorageError`; `WorkspaceError`.
  public func explain() throws -> (first: QueryExplanation, second: QueryExplanation) {
    try left.requireOpen()
    return try pairs.explain(in: core)
  }

  var core: WorkspaceCore { left.core }

  /// The query as data.
  var pairs: JoinedPairs<Left, Right> {
    JoinedPairs(left: left.query, right: right.query, values: values)
  }
}

extension JoinQuery: Request {
  /// The query as Dflat uses it. It is asked again: the objects that an object which has changed is
  /// paired with are found by reading.
  public var _form: RequestForm<[(Left, Right)]> {
    let pairs = pairs
    return RequestForm(
      askingAgain: core, about: pairs.types, because: pairs.reasonToAskAgain,
      fetch: { try fetch() },
      explain: {
        let (first, second) = try explain()
        return [first, second]
      },
      read: { try pairs.fetch(in: $0) },
      isSame: { before, now in
        before.elementsEqual(now) { $0.0.isSameState(as: $1.0) && $0.1.isSameState(as: $1.1) }
      },
      answer: { $0 })
  }
}

extension ObjectQuery {
  /// Pairs of this query's objects and those of another one that have an equal value.
  ///
  ///     let pairs = try posts.join(dflat.query(Place.self), on: Post.city, Place.name).fetch()
  ///
  /// - Parameters:
  ///   - other: The second objects, of the same workspace.
  ///   - left: A value of this query's objects.
  ///   - right: A value of the other ones, of the same type.
  public func join<L: QueryExpression, R: QueryExpression>(
    _ other: ObjectQuery<R.Element>, on left: L, _ right: R
  ) -> JoinQuery<Element, R.Element> where L.Element == Element, L.Value == R.Value {
    require(
      core === other.core, "join(_:on:_:) was called with a query of another workspace")
    return JoinQuery(self, other, (left.expression, right.expression))
  }
}

extension Workspace {
  /// Pairs of objects of two types that have an equal value, also if neither refers to the other.
  ///
  ///     for (post, place) in try dflat.join(Post.self, Place.self, on: Post.city, Place.name)
  ///       .where(Post.likes > 100).where(Place.isOpen).fetch() { … }
  ///
  /// - Parameters:
  ///   - type: The type of the first objects.
  ///   - other: The type of the second objects.
  ///   - left: A value of the first objects.
  ///   - right: A value of the second objects, of the same type.
  public func join<L: QueryExpression, R: QueryExpression>(
    _ type: L.Element.Type, _ other: R.Element.Type, on left: L, _ right: R
  ) -> JoinQuery<L.Element, R.Element> where L.Value == R.Value {
    query(type).join(query(other), on: left, right)
  }
}
