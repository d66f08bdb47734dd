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
  /// The next position.
  @inlinable
  public func index(after i: Int) -> Int { i + 1 }
}

/// A relation whose objects a query can include.
///
/// The relations of generated code conform; programs add no conformances.
public protocol IncludableRelation<Root, Related>: Sendable {
  /// The type that has the relation.
  associatedtype Root: Atom
  /// What one object is related to.
  associatedtype Related: Sendable
  /// How the related objects are read, for Dflat.
  var _inclusion: Inclusion<Root, Related> { get }
}

/// How a query reads the objects that others are related to, for Dflat.
public struct Inclusion<Root: Atom, Related: Sendable>: Sendable {
  @usableFromInline typealias Objects = FetchedResult<Root>
  /// The types of the objects that decide what is related.
  let types: @Sendable () -> [EntitySchema]
  /// What some objects are related to.
  @usableFromInline let read: @Sendable (Objects, RelatedViews) throws -> [Related]
  /// How that is found.
  let explain: @Sendable (Objects, RelatedViews) throws -> QueryExplanation
  /// Whether the same stored objects are related, with the same contents.
  let areSame: @Sendable ([Related], [Related]) -> Bool

  @usableFromInline
  init(
    types: @escaping @Sendable () -> [EntitySchema],
    read: @escaping @Sendable (Objects, RelatedViews) throws -> [Related],
    explain: @escaping @Sendable (Objects, RelatedViews) throws -> QueryExplanation,
    areSame: @escaping @Sendable ([Related], [Related]) -> Bool
  ) {
    self.types = types
    self.read = read
    self.explain = explain
    self.areSame = areSame
  }
}

/// The views from which related objects are read.
@usableFromInline struct RelatedViews {
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

  /// Explains how the objects with some keys are looked up.
  func explain(_ keys: [KeyValues], of schema: EntitySchema) throws -> QueryExplanation {
    // Each key is looked up in the same way.
    let condition = Node.membership(schema.primaryKey, Array(keys.prefix(1)))
    return try core.explain(Query(schema: schema, condition: condition))
  }
}
