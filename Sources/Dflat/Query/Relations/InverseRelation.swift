// Inverse relations: the objects that refer to an object.

/// The objects that refer to an object: `Author.posts`, if the schema says `inverse: "posts"`.
///
///     dflat.query(Author.self).where(Author.posts.count > 3)
///     dflat.query(Author.self).where(Author.posts.where(Post.likes > 100).exists)
public struct InverseRelation<Source: Atom, Root: Atom>: Sendable {
  /// The fields of the object's primary key.
  let keys: [FieldDescriptor]
  /// The fields of the referring objects, in the same order.
  let offsets: [Int]
  /// What holds for the referring objects.
  let condition: Node?

  init(_ keys: [FieldDescriptor], _ offsets: [Int], condition: Node?) {
    self.keys = keys
    self.offsets = offsets
    self.condition = condition
  }

  /// The objects whose field at a vtable offset refers to the object. For generated code.
  public init(_ offset: Int) {
    self.init([offset])
  }

  /// The objects whose fields at some vtable offsets refer to the object. For generated code.
  public init(_ offsets: [Int]) {
    self.init(Root._schema.primaryKey, offsets, condition: nil)
  }

  /// Only those of the objects for which a condition is true.
  public func `where`<C: QueryExpression<Bool, Source>>(_ condition: C) -> Self {
    let own = condition._node
    return InverseRelation(
      keys, offsets, condition: self.condition.map { .conjunction($0, own) } ?? own)
  }

  /// The number of the objects. One that refers to the object several times, by a vector, counts
  /// once.
  public var count: Field<Int, Root> {
    // Counts of other objects, or with other conditions, are other fields.
    let part = condition.map { " where \($0.text(in: Source._schema))" } ?? ""
    return Field(
      FieldDescriptor(
        ReferrerCount(keys, Source._schema, offsets, condition),
        FieldDescriptor(
          path: "f\(offsets[0])", type: .int64, steps: [], leaf: .presence, defaultValue: nil,
          domain: nil, column: nil),
        name: "\(offsets).count\(part)"))
  }

  /// Whether there is an object. Never unknown for the object of a row.
  public var exists: Condition<Root> { count > 0 }

  /// Whether there is no object. Never unknown for the object of a row.
  public var isEmpty: Condition<Root> { count == 0 }

  /// The objects that refer to an object. For generated code.
  public func _objects(of object: Root) -> RelatedObjects<Source> {
    let key = object._row.read { Root._schema.key($0) }
    return RelatedObjects(
      Source._schema.condition(thatRefersBy: offsets, to: key.map { [$0] } ?? []))
  }
}

/// The objects that refer to one object: `author.posts`, which `dflat.query(author.posts)` asks
/// for.
public struct RelatedObjects<Element: Atom>: Sendable {
  /// The condition that these objects satisfy.
  let condition: Node

  init(_ condition: Node) {
    self.condition = condition
  }

  /// The condition that these objects satisfy.
  public var objects: Condition<Element> { Computed(condition) }
}

/// The number of objects that refer to an object.
final class ReferrerCount: RelatedValue {
  let keys: [FieldDescriptor]
  let other: EntitySchema
  /// The reference of these objects.
  let offsets: [Int]
  /// What holds for these objects.
  let condition: Node?

  init(_ keys: [FieldDescriptor], _ other: EntitySchema, _ offsets: [Int], _ condition: Node?) {
    self.keys = keys
    self.other = other
    self.offsets = offsets
    self.condition = condition
  }

  func with(_ keys: [FieldDescriptor]) -> any RelatedValue {
    ReferrerCount(keys, other, offsets, condition)
  }

  func name(in schema: EntitySchema) -> String {
    let part = condition.map { " where \($0.text(in: other))" } ?? ""
    let names = offsets.map { "\(other.layout.swiftName).\(other.name(ofReference: [$0]))" }
    let pairs = zip(names, keys).map { "\($0) == \(schema.name(of: $1))" }
    return "count(\(pairs.joined(separator: " && "))\(part))"
  }
}
