// Reading related objects: each once, by their keys.

import FlatBuffersRuntime

extension ToOneField: IncludableRelation {
  /// How the object that each object refers to is read, for Dflat.
  @inlinable
  public var _inclusion: Inclusion<Root, Target?> {
    Inclusion(
      types: { [Target._schema] },
      read: { try relatedKeys().targets(of: $0, in: $1) },
      explain: { try relatedKeys().explain($0, of: Target._schema, in: $1) },
      areSame: { areSameTargets($0, $1) })
  }

  @usableFromInline
  func relatedKeys() throws -> RelatedKeys {
    try requireOwn(key.descriptor.related == nil, [key.descriptor], Root._schema)
    return RelatedKeys(ReferenceReader([key.descriptor]))
  }
}

extension CompoundRelation: IncludableRelation {
  /// How the object that each object refers to is read, for Dflat.
  @inlinable
  public var _inclusion: Inclusion<Root, Target?> {
    Inclusion(
      types: { [Target._schema] },
      read: { try relatedKeys().targets(of: $0, in: $1) },
      explain: { try relatedKeys().explain($0, of: Target._schema, in: $1) },
      areSame: { areSameTargets($0, $1) })
  }

  @usableFromInline
  func relatedKeys() throws -> RelatedKeys {
    try requireOwn(keys[0].related == nil, keys, Root._schema)
    return RelatedKeys(ReferenceReader(keys))
  }
}

extension ToManyField: IncludableRelation {
  /// How the objects that each object refers to are read, for Dflat.
  @inlinable
  public var _inclusion: Inclusion<Root, [Target]> {
    Inclusion(
      types: { [Target._schema] }, read: { try related(to: $0, in: $1) },
      explain: { try relatedKeys().explain($0, of: Target._schema, in: $1) },
      areSame: { areSameObjects($0, $1) })
  }

  @inlinable
  func related(to objects: FetchedResult<Root>, in views: RelatedViews) throws -> [[Target]] {
    let keys = try relatedKeys()
    let targets: [Target?] = try keys.read(for: objects, in: views)
    var start = 0
    return keys.ends.map { end in
      defer { start = end }
      return keys.places[start..<end].compactMap { targets[Int($0)] }
    }
  }

  @usableFromInline
  func relatedKeys() throws -> RelatedKeys {
    let container = path.containers[0]
    try requireOwn(
      container.relation == nil && container.steps.isEmpty, [container.vector(path.offset)],
      Root._schema)
    return RelatedKeys(ReferenceReader(path))
  }
}

/// Whether the same objects are referred to, with the same contents.
@inlinable
func areSameTargets<Target: Atom>(_ some: [Target?], _ others: [Target?]) -> Bool {
  some.elementsEqual(others) { left, right in
    guard let left, let right else { return left == nil && right == nil }
    return left.isSameState(as: right)
  }
}

/// Whether the same objects are related, with the same contents.
@inlinable
func areSameObjects<Target: Atom>(_ some: [[Target]], _ others: [[Target]]) -> Bool {
  some.elementsEqual(others) { $0.elementsEqual($1) { $0.isSameState(as: $1) } }
}

extension InverseRelation: IncludableRelation {
  /// How the objects that refer to each object are read, for Dflat.
  @inlinable
  public var _inclusion: Inclusion<Root, [Source]> {
    Inclusion(
      types: { relatedTypes }, read: { try related(to: $0, in: $1) },
      explain: { try explain(relatedTo: $0, in: $1) }, areSame: { areSameObjects($0, $1) })
  }

  @usableFromInline
  func related(
    to objects: FetchedResult<Root>, in views: RelatedViews
  ) throws -> [[Source]] {
    let keys = try relatedKeys(of: objects)
    let sources = try views.core.fetch(query(for: keys)).map { Source(_row: $0) }
    let schema = Source._schema
    var table = keys.table
    var related = [[Source]](repeating: [], count: table.count)
    let reader = ReferenceReader(schema, offsets)
    let known = table.count
    /// The object that was added last to each key: a vector may name a key several times.
    var latest = [Int](repeating: -1, count: known)
    for (number, source) in sources.enumerated() {
      source._row.read { row in
        reader.forEachKey(row) { key in
          let place = table.group(key[...])
          if place >= known || latest[place] == number { return }
          latest[place] = number
          related[place].append(source)
        }
      }
    }
    return keys.places.map { $0 < 0 ? [] : related[Int($0)] }
  }

  @usableFromInline
  func explain(
    relatedTo objects: FetchedResult<Root>, in views: RelatedViews
  ) throws -> QueryExplanation {
    try views.core.explain(query(for: relatedKeys(of: objects)))
  }

  /// The types of the objects, and of those in the condition.
  @usableFromInline var relatedTypes: [EntitySchema] {
    [Source._schema] + Query(schema: Source._schema, condition: condition).relatedTypes
  }

  private func relatedKeys(of objects: FetchedResult<Root>) throws -> RelatedKeys {
    try requireOwn(self.keys[0].related == nil, self.keys, Root._schema)
    let keys = RelatedKeys(ReferenceReader(self.keys))
    for object in objects { keys.add(object._row) }
    return keys
  }

  /// The query for the objects that refer to some keys.
  private func query(for keys: RelatedKeys) -> Query {
    let refers = Source._schema.condition(thatRefersBy: offsets, to: keys.values)
    return Query(
      schema: Source._schema, condition: condition.map { .conjunction($0, refers) } ?? refers)
  }
}

/// Throws if a relation begins at another object than the query's.
private func requireOwn(
  _ isOwn: Bool, _ key: [FieldDescriptor], _ schema: EntitySchema
) throws {
  if isOwn { return }
  throw QueryError(
    .unsupportedRelation,
    "\(schema.name(ofKey: key)) of \(schema.layout.swiftName) cannot be included: it is a relation of another object",
    "include relations of the queried type only; run a second query for the relations of the related objects"
  )
}

/// The different keys that some objects have. Used by one thread and never re-entrantly, so
/// exclusivity checks would find nothing; they took a quarter of the work.
@usableFromInline
final class RelatedKeys {
  /// The places of the keys of each object; −1 for an object without one, unless it has a vector.
  @exclusivity(unchecked) @usableFromInline private(set) var places: [Int32] = []
  /// Where the places of each object end, if it has a vector.
  @exclusivity(unchecked) @usableFromInline private(set) var ends: [Int] = []
  @exclusivity(unchecked) private(set) var table = GroupTable()
  private let reader: ReferenceReader

  init(_ reader: ReferenceReader) {
    self.reader = reader
  }

  /// Adds the keys of an object.
  @usableFromInline
  func add(_ row: Row) {
    let before = places.count
    reader.forEachKey(row.unretainedTable) { places.append(Int32(table.group($0[...]))) }
    if reader.isVector {
      ends.append(places.count)
    } else if places.count == before {
      places.append(-1)
    }
  }

  /// The keys, by their places.
  var values: [KeyValues] {
    (0..<table.count).compactMap { table.key(of: $0, reader.types) }
  }

  /// Explains how the objects are found that some objects refer to.
  @usableFromInline
  func explain(
    _ objects: FetchedResult<some Atom>, of schema: EntitySchema, in views: RelatedViews
  ) throws -> QueryExplanation {
    for object in objects { add(object._row) }
    return try views.explain(values, of: schema)
  }

  /// The rows with the keys, by their places; nil for a key without a row.
  @usableFromInline
  func rows(of schema: EntitySchema, in views: RelatedViews) throws -> [Row?] {
    let keys = values
    let unread = views.core.unread
    return try views.reading(keys, of: schema) {
      try $0.rows(of: schema, with: keys, mark: unread)
    }
  }
}

extension RelatedKeys {
  /// Reads the objects that some objects refer to: for each of them one, or nil.
  @inlinable
  func targets<Root: Atom, Target: Atom>(
    of objects: FetchedResult<Root>, in views: RelatedViews
  ) throws -> [Target?] {
    let targets: [Target?] = try read(for: objects, in: views)
    return places.map { $0 < 0 ? nil : targets[Int($0)] }
  }

  /// Adds the keys of some objects, and reads the objects with the keys, by their places.
  @inlinable
  func read<Root: Atom, Target: Atom>(
    for objects: FetchedResult<Root>, in views: RelatedViews
  ) throws -> [Target?] {
    for object in objects { add(object._row) }
    return try rows(of: Target._schema, in: views).map { row in row.map { Target(_row: $0) } }
  }
}
