// Compiler errors for live queries that lack a part.

public import Dispatch

extension LiveValue {
  /// Not a way to make a live query: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a live query follows a result: end the query with 'all()' or 'where(…)', \
      as in 'LiveQuery(dflat.fetch(for: Post.self).all(), in: dflat)'
      """
  )
  public convenience init<Element: Atom & Equatable>(
    _ query: QueryBuilder<Element>, in workspace: (any Workspace)? = nil,
    on queue: DispatchQueue? = .main
  ) where Value == FetchedResult<Element> { unavailableCall() }

  /// Not a way to make a live query: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a live query follows a result: write \
      'LiveQuery(dflat.fetch(for: Post.self).all(), in: dflat)'
      """
  )
  public convenience init<Element: Atom & Equatable>(
    _ type: Element.Type, in workspace: (any Workspace)? = nil, on queue: DispatchQueue? = .main
  ) where Value == FetchedResult<Element> { unavailableCall() }

  /// Not a way to make a live query: the compiler's error says so.
  @available(
    *, unavailable,
    message: "name the workspace in which it is watched: 'LiveQuery(result, in: dflat)'"
  )
  public convenience init<Element: Atom & Equatable>(
    _ fetchedResult: FetchedResult<Element>, on queue: DispatchQueue? = .main
  ) where Value == FetchedResult<Element> { unavailableCall() }
}
