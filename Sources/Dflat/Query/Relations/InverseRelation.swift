// Inverse relations: the objects that refer to an object.

/// The objects that refer to an object: `Author.posts`, if the schema says `inverse: "posts"`.
///
///     dflat.query(Author.self).where(Author.posts.count > 3)
///     dflat.query(Author.self).where(Author.posts.where(Post.likes > 100).exists)
public struct InverseRelation<Source: Atom, Root: Atom>: Sendable {
  /// The primary key of the object.
  let key: FieldDescriptor
  /// The field of the referring objects.
  let offset: Int
  /// What holds for the referring objects.
  let condition: Node?

  init(_ key: FieldDescriptor, _ offset: Int, condition: Node?) {
    self.key = key
    self.offset = offset
    self.condition = condition
  }

  /// The objects whose field at a vtable offset refers to the object. For generated code.
  public init(_ offset: Int) {
    self.init(Root._schema.primaryKey[0], offset, condition: nil)
  }

  /// Only those of the objects for which a condition is true.
  public func `where`<C: QueryExpression<Bool, Source>>(_ condition: C) -> Self {
    let own = condition._node
    return InverseRelation(
      key, offset, condition: self.condition.map { .conjunction($0, own) } ?? own)
  }

  /// The number of the objects. One that refers to the object several times, by a vector, counts
  /// once.
  public var count: Field<Int, Root> {
    // Counts of other objects, or with other conditions, are other fields.
    let part = condition.map { " where \($0.text(in: Source._schema))" } ?? ""
    return Field(
      FieldDescriptor(
        ReferrerCount(key, Source._schema, offset, condition),
        FieldDescriptor(
          path: "f\(offset)", type: .int64, steps: [], leaf: .presence, defaultValue: nil,
          domain: nil, column: nil),
        name: "\(offset).count\(part)"))
  }

  /// Whether there is an object. Never unknown for the object of a row.
  public var exists: Condition<Root> { count > 0 }

  /// Whether there is no object. Never unknown for the object of a row.
  public var isEmpty: Condition<Root> { count == 0 }

  /// The objects that refer to an object. For generated code.
  public func _objects(of object: Root) -> RelatedObjects<Source> {
    let key = object._row.read { table in
      Root._schema.keyReaders[0].read(table).constant(self.key.type)
    }
    return RelatedObjects(
      Source._schema.condition(thatRefersBy: offset, to: key.map { [$0] } ?? []))
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

extension EntitySchema {
  /// Whether the reference at an offset has one of some keys.
  func condition(thatRefersBy offset: Int, to keys: [Value]) -> Node {
    if let field = root.fieldIfKnown(offset, in: self) {
      return keys.count == 1
        ? .comparison(.equal, .field(field), .constant(keys[0], field.type), field.type)
        : .membership(.field(field), keys, field.type, negated: false)
    }
    let element = ElementVariable([root], offset)
    let value = element.value
    return .quantified(
      .any, element, .membership(.field(value), keys, value.type, negated: false))
  }
}

/// The number of objects that refer to an object.
final class ReferrerCount: RelatedValue {
  let key: FieldDescriptor
  let other: EntitySchema
  /// The reference of these objects.
  let offset: Int
  /// What holds for these objects.
  let condition: Node?

  init(_ key: FieldDescriptor, _ other: EntitySchema, _ offset: Int, _ condition: Node?) {
    RelationUse.begin()
    self.key = key
    self.other = other
    self.offset = offset
    self.condition = condition
  }

  func with(_ key: FieldDescriptor) -> any RelatedValue {
    ReferrerCount(key, other, offset, condition)
  }

  func name(in schema: EntitySchema) -> String {
    let name = other.layout.property(at: offset)?.name ?? "f\(offset)"
    let part = condition.map { " where \($0.text(in: other))" } ?? ""
    return "count(\(other.layout.swiftName).\(name) == \(schema.name(of: key))\(part))"
  }
}
