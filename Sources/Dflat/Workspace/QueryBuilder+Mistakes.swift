// What the compiler says where a query is written as for a collection: with a closure, or with key paths.

extension QueryBuilder {
  // The label, which a trailing closure does not need, keeps this apart from the right form at once: mistakes inside long
  // conditions are told as fast as without it.

  /// No form of a query: an error that says so.
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
}

extension ThrowingQueryBuilder {
  /// No form of a query: an error that says so.
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
}

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func == <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func != <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func < <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func <= <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func > <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }

/// No operand of conditions: an error that says so.
@available(
  *, unavailable, message: "conditions name fields without key paths: write 'Post.priority > 3'"
)
public func >= <Root: Atom, Value, R>(
  lhs: KeyPath<Root, Value>, rhs: R
) -> Condition<Root> { unavailableCall() }
