// RelatedResult: objects together with those that they refer to, read in one snapshot.
//
// Whatever is done for each object is inlinable, so that it is specialised for the program's types.

/// Objects with their related objects, in the order of the query.
///
///     for (post, author) in try dflat.query(Post.self).including(Post.author).fetch() { … }
///
/// Each related object is read and kept once, however many objects refer to it.
public struct RelatedResult<Object: Atom, Related: Sendable>: RandomAccessCollection, Sendable {
  /// An object with what it is related to.
  public typealias Element = (object: Object, related: Related)

  /// The objects, which can be subscribed to.
  public let objects: FetchedResult<Object>
  /// What each of the objects is related to, in the same order.
  public let related: [Related]

  @inlinable
  init(_ objects: FetchedResult<Object>, _ related: [Related]) {
    self.objects = objects
    self.related = related
  }

  /// Always zero.
  @inlinable
  public var startIndex: Int { 0 }
  /// The number of objects.
  @inlinable
  public var endIndex: Int { objects.count }
  /// The object at a position, with what it is related to.
  @inlinable
  public subscript(position: Int) -> (object: Object, related: Related) {
    (objects[position], related[position])
  }
}

/// A relation whose objects a query can include.
///
/// The relations of generated code conform; programs add no conformances.
public protocol IncludableRelation<Root, Related>: Sendable {
  /// The type that has the relation.
  associatedtype Root: Atom
  /// What one object is related to.
  associatedtype Related: Sendable
  /// What some objects are related to, for Dflat.
  func _related(to objects: FetchedResult<Root>, in views: RelatedViews) throws -> [Related]
}

/// The views from which related objects are read, for Dflat.
public struct RelatedViews {
  let core: WorkspaceCore

  @usableFromInline
  init(core: WorkspaceCore) {
    self.core = core
  }

  /// Calls `body` with the view of a type, of which it reads the objects with some keys.
  func reading<R>(
    _ keys: [KeyValues], of schema: EntitySchema, _ body: (any StorageReader) throws -> R
  ) throws -> R {
    // A transaction remembers what it has read by this condition.
    let condition = Node.membership(schema.primaryKey, keys)
    return try core.reading(Query(schema: schema, condition: condition), [], body)
  }
}

/// A query for objects with related ones; see ``ObjectQuery/including(_:)``.
public struct IncludingQuery<Element: Atom, Related: Sendable>: Sendable {
  @usableFromInline typealias Reading =
    @Sendable (FetchedResult<Element>, RelatedViews) throws -> [Related]

  private let objects: ObjectQuery<Element>
  @usableFromInline let readRelated: Reading

  @usableFromInline
  init(_ objects: ObjectQuery<Element>, _ readRelated: @escaping Reading) {
    self.objects = objects
    self.readRelated = readRelated
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
    let core = core
    let query = try checkedQuery()
    return try core.fetchWithinASnapshot { () throws -> RelatedResult<Element, Related> in
      let origin = core.origin(of: query)
      let objects = FetchedResult(try core.fetch(query).map { Element(_row: $0) }, origin)
      return RelatedResult(objects, try readRelated(objects, RelatedViews(core: core)))
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
    IncludingQuery(self) { try relation._related(to: $0, in: $1) }
  }
}
