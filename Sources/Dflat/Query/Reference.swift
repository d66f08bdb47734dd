// References: the name spaces of queries behind tables, structs and unions.
//
// A reference knows the way from the root to itself and nothing of Swift types; generated extensions add the typed names.

/// The fields behind a table or struct field: `Post.author` has `handle`, `Post.place` has `lat`.
///
/// All of them are unknown for an object whose reference is nil.
public struct Reference<Target, Root: Atom>: Sendable {
  let path: FieldPath

  init(_ path: FieldPath) {
    self.path = path
  }

  /// The table or struct field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    path = Root._schema.root.reference(offset)
  }

  /// A field of the target. For generated code.
  public func _field<Value: DflatFriendlyValue>(_ offset: Int) -> Field<Value, Root> {
    Field(path.field(offset, in: Root._schema))
  }

  /// A table or struct field of the target. For generated code.
  public func _reference<Inner>(_ offset: Int) -> Reference<Inner, Root> {
    Reference<Inner, Root>(path.reference(offset))
  }

  /// A union field of the target. For generated code.
  public func _union<Union>(_ offset: Int) -> UnionReference<Union, Root> {
    UnionReference<Union, Root>(path, offset)
  }
}

/// A union field: what it holds, and the fields of what it holds.
///
///     Post.attachment.match(Photo.self) && Post.attachment.as(Photo.self).width > 640
public struct UnionReference<Target, Root: Atom>: Sendable {
  let container: FieldPath
  let offset: Int

  init(_ container: FieldPath, _ offset: Int) {
    self.container = container
    self.offset = offset
  }

  /// The union field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    self.init(Root._schema.root, offset)
  }

  /// The tag of the member that is stored, from 1 up; unknown for an empty union.
  public var _type: Field<Int32, Root> {
    Field(container.unionTag(offset, in: Root._schema))
  }

  /// Whether the union holds one of the members with these tags. For generated code.
  public func _match(_ tags: Int32...) -> Condition<Root> {
    tags.count == 1 ? _type == tags[0] : _type.in(tags)
  }

  /// The fields of a member that is a table or struct. For generated code.
  public func _member<Member>(_ tag: UInt8) -> Reference<Member, Root> {
    Reference<Member, Root>(container.member(offset, tag))
  }

  /// A member that is a string. For generated code.
  public func _stringMember(_ tag: UInt8) -> Field<String, Root> {
    Field(container.stringMember(offset, tag, in: Root._schema))
  }
}
