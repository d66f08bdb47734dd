// Relations by compound keys as programs write them: `Post.author`, the way to another object.

/// Several fields that together have the primary key of another object: `Post.author`, if the
/// schema says `references: "author: author_site, author_number -> Author"` of the table.
///
/// It has the fields of the object that it refers to: `Post.author.name == "Ada"`. These are
/// unknown if one of the fields has no value, and if no object has the key.
///
/// Where a field of the other object has the name of a member of this type, `related` leads to it.
@dynamicMemberLookup
public struct CompoundRelation<Target: Atom, Root: Atom>: QueryReference {
  /// The fields, in the order of the fields of the key.
  let keys: [FieldDescriptor]

  init(_ keys: [FieldDescriptor]) {
    self.keys = keys
  }

  /// The fields of the entity at some vtable offsets. For generated code.
  public init(_ offsets: [Int]) {
    let schema = Root._schema
    self.init(offsets.map { schema.root.field($0, in: schema) })
  }

  /// The fields of the object that the key refers to.
  ///
  /// `Post.author.related.isNull` is true for a post in which a field of the key has no value, and
  /// for one whose author is not stored.
  public var related: Reference<Target, Root> { Reference(by: keys) }

  /// Whether no such object is stored: that of ``related``. Never unknown.
  public var isNull: Condition<Root> { related.isNull }
  /// Whether such an object is stored: that of ``related``. Never unknown.
  public var isNotNull: Condition<Root> { related.isNotNull }

  /// A field of the object that the key refers to.
  public subscript<Member>(dynamicMember path: KeyPath<Reference<Target, Root>, Member>) -> Member {
    related[keyPath: path]
  }
}

extension Reference {
  /// A reference of the target by several fields. For generated code.
  public func _compoundRelation<Other: Atom>(_ offsets: [Int]) -> CompoundRelation<Other, Root> {
    CompoundRelation(fields(offsets))
  }
}
