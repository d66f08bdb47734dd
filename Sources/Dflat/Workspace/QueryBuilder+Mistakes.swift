// Compiler errors for queries that are written like those of a collection: with a closure, or with
// key paths.

extension QueryBuilder {
  // The label, which a trailing closure does not need, lets the compiler discard this overload at
  // once: it reports mistakes inside long conditions as fast as without it.

  /// Not a way to make a query: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a condition is an expression, not a closure: write 'where(Post.priority > 3)'; \
      to filter in Swift, write 'all().filter { $0.priority > 3 }'
      """
  )
  public func `where`(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = [],
    satisfying condition: (Element) throws -> Bool
  ) -> FetchedResult<Element> { unavailableCall() }

  /// Not a way to make a query: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition is an expression, not a closure: write 'where(Post.priority > 3)'; \
      to filter in Swift, write 'all().filter { $0.priority > 3 }'
      """
  )
  public func `where`(
    _ condition: (Element) throws -> Bool, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) -> FetchedResult<Element> { unavailableCall() }
}

extension ThrowingQueryBuilder {
  /// Not a way to make a query: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a condition is an expression, not a closure: write 'where(Post.priority > 3)'; \
      to filter in Swift, write 'all().filter { $0.priority > 3 }'
      """
  )
  public func `where`(
    limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = [],
    satisfying condition: (Element) throws -> Bool
  ) throws -> FetchedResult<Element> { unavailableCall() }

  /// Not a way to make a query: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition is an expression, not a closure: write 'where(Post.priority > 3)'; \
      to filter in Swift, write 'all().filter { $0.priority > 3 }'
      """
  )
  public func `where`(
    _ condition: (Element) throws -> Bool, limit: Limit = .noLimit, orderBy: [OrderBy<Element>] = []
  ) throws -> FetchedResult<Element> { unavailableCall() }
}

extension ObjectQuery {
  /// Not a way to make a query: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition is an expression, not a closure: write 'where(Post.priority > 3)'; \
      to filter in Swift, write 'fetch().filter { $0.priority > 3 }'
      """
  )
  public func `where`(_ condition: (Element) throws -> Bool) -> Self { unavailableCall() }
}

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func == <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func != <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func < <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func <= <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func > <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// Not an operand of conditions: the compiler's error says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func >= <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }
