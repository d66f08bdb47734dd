// References: the namespaces of query fields inside tables, structs and unions.
//
// A reference knows its path from the root, and no Swift types; generated extensions add the typed
// names.
//
// A union with several aliases for one type has several paths for one name. The name then refers to
// whichever member is stored.

/// The fields of a table or struct field: `Post.author` has `handle`, `Post.place` has `lat`.
///
/// All of them are unknown if the object has no such table or struct.
public struct Reference<Target, Root: Atom>: QueryReference {
  let ways: [FieldPath]

  init(_ ways: [FieldPath]) {
    self.ways = ways
  }

  /// The table or struct field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    ways = [Root._schema.root.reference(offset)]
  }

  /// Whether no such table or struct is stored. For a union member, also if another member is
  /// stored. Never unknown.
  public var isNull: Condition<Root> { presence.isNull }

  /// Whether the table or struct is stored. Never unknown.
  public var isNotNull: Condition<Root> { presence.isNotNull }

  /// True if the table or struct is stored, unknown otherwise.
  private var presence: Field<Bool, Root> { Field(oneOf: ways.map(\.presence)) }

  /// A field of the target. For generated code.
  public func _field<Value: QueryValue>(_ offset: Int) -> Field<Value, Root> {
    Field(oneOf: ways.map { $0.field(offset, in: Root._schema) })
  }

  /// A table or struct field of the target. For generated code.
  public func _reference<Inner>(_ offset: Int) -> Reference<Inner, Root> {
    Reference<Inner, Root>(ways.map { $0.reference(offset) })
  }

  /// A union field of the target. For generated code.
  public func _union<Union>(_ offset: Int) -> UnionReference<Union, Root> {
    UnionReference<Union, Root>(ways, offset)
  }
}

/// A union field: the member that it contains, and the fields of that member.
///
///     Post.attachment.match(Photo.self) && Post.attachment.as(Photo.self).width > 640
public struct UnionReference<Target, Root: Atom>: QueryReference {
  let containers: [FieldPath]
  let offset: Int

  init(_ containers: [FieldPath], _ offset: Int) {
    self.containers = containers
    self.offset = offset
  }

  /// The union field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    self.init([Root._schema.root], offset)
  }

  /// The tag of the stored member, from 1 up; unknown for an empty union.
  public var _type: Field<Int32, Root> {
    Field(oneOf: containers.map { $0.unionTag(offset, in: Root._schema) })
  }

  /// Whether the union is empty or contains a member that this version of the schema does not know.
  /// Never unknown.
  public var isNull: Condition<Root> { _type.isNull }

  /// Whether the union contains a member. Never unknown.
  public var isNotNull: Condition<Root> { _type.isNotNull }

  /// Whether the union contains one of the members with these tags. Never unknown. For generated
  /// code.
  public func _match(_ tags: Int32...) -> Condition<Root> { contains(anyOf: tags) }

  func contains(anyOf tags: [Int32]) -> Condition<Root> {
    Computed(.match(_type.descriptor, tags.map { .integer(Int64($0)) }))
  }

  /// The fields of whichever of these members is stored; all of them have the same table or struct
  /// type. For generated code.
  public func _member<Member>(_ tags: UInt8...) -> Reference<Member, Root> {
    Reference<Member, Root>(
      containers.flatMap { container in tags.map { container.member(offset, $0) } })
  }

  /// The value of whichever of these members is stored; all of them are strings. For generated
  /// code.
  public func _stringMember(_ tags: UInt8...) -> Field<String, Root> {
    Field(
      oneOf: containers.flatMap { container in
        tags.map { container.stringMember(offset, $0, in: Root._schema) }
      })
  }
}
