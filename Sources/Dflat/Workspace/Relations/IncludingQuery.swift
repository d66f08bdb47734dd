// IncludingQuery: a query for objects together with those that they are related to.
//
// Whatever is done for each object is inlinable, so that it is specialised for the program's types.

/// A query for objects with related ones; see ``ObjectQuery/including(_:)``.
///
/// `fetch` answers it once, and a workspace's `subscribe` follows it.
public struct IncludingQuery<Element: Atom, Related: Sendable>: Sendable {
  let objects: ObjectQuery<Element>
  @usableFromInline let relation: Inclusion<Element, Related>

  @usableFromInline
  init(_ objects: ObjectQuery<Element>, _ relation: Inclusion<Element, Related>) {
    self.objects = objects
    self.relation = relation
  }

  @usableFromInline var core: WorkspaceCore { objects.core }

  @usableFromInline
  func checkedQuery() throws -> Query {
    try objects.requireOpen()
    return objects.query
  }

  /// Fetches the objects and those that they are related to, from one state.
  ///
  /// The related objects are looked up together: there is no query for each object.
  /// - Returns: The objects in the query's order, each with its related ones.
  /// - Throws: `StorageError`; `WorkspaceError`, also if a transaction does not name both types.
  @inlinable
  public func fetch() throws -> RelatedResult<Element, Related> {
    try relation.fetch(try checkedQuery(), in: core)
  }

  /// Explains how `fetch` would be executed now. The objects are read, since the related ones are
  /// found by what they refer to.
  /// - Returns: How the objects are found, and how the related ones.
  /// - Throws: `StorageError`; `WorkspaceError`.
  public func explain() throws -> (objects: QueryExplanation, related: QueryExplanation) {
    let query = try checkedQuery()
    return try core.fetchWithinASnapshot { () throws in
      let found = FetchedResult(try core.fetch(query).map { Element(_row: $0) })
      return (
        try core.explain(query).askedAgain(because: reasonToAskAgain),
        try relation.explain(found, RelatedViews(core: core)).askedAgain(because: reasonToAskAgain)
      )
    }
  }
}

extension IncludingQuery {
  /// Why the answer is asked again when it is watched.
  private var reasonToAskAgain: String { "it contains objects of several types" }
}

extension IncludingQuery: Request {
  /// The query as Dflat uses it. It is asked again: the objects that are related to one that has
  /// changed are found by reading.
  public var _form: RequestForm<RelatedResult<Element, Related>> {
    let (data, relation) = (objects.query, relation)
    return RequestForm(
      askingAgain: core, about: [data.schema] + data.relatedTypes + relation.types(),
      because: reasonToAskAgain,
      fetch: { try fetch() },
      explain: {
        let (objects, related) = try explain()
        return [objects, related]
      },
      read: { try relation.fetch(data, in: $0) },
      isSame: { before, now in
        before.objects.elementsEqual(now.objects) { $0.isSameState(as: $1) }
          && relation.areSame(before.related, now.related)
      },
      answer: { $0 })
  }
}

extension Inclusion {
  /// Reads the objects of a query and what they are related to, from one state.
  @inlinable
  func fetch(_ query: Query, in core: WorkspaceCore) throws -> RelatedResult<Root, Related> {
    try core.fetchWithinASnapshot { () throws -> RelatedResult<Root, Related> in
      let origin = core.origin(of: query)
      let objects = FetchedResult(try core.fetch(query).map { Root(_row: $0) }, origin)
      return RelatedResult(objects, try read(objects, RelatedViews(core: core)))
    }
  }
}

extension ObjectQuery {
  /// The same objects, together with those that they refer to, or that refer to them.
  ///
  ///     let posts = try dflat.query(Post.self).including(Post.author).fetch()
  ///     for (post, author) in posts { print(post.title, author?.name ?? "unknown") }
  ///     for (author, posts) in try dflat.query(Author.self).including(Author.posts).fetch() { … }
  ///
  /// - Parameter relation: `Post.author`, for the object or nil; a vector of keys, for the objects
  ///   that are stored, in the order of the keys; an inverse, for the objects in order of
  ///   insertion.
  @inlinable
  public func including<Relation: IncludableRelation>(
    _ relation: Relation
  ) -> IncludingQuery<Element, Relation.Related> where Relation.Root == Element {
    IncludingQuery(self, relation._inclusion)
  }
}
