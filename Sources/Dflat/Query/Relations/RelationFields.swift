// Relations as programs write them: `Post.author`, which is a field and the way to another object.

/// A field with the primary key of another object: `Post.author`.
///
/// It is the field in conditions, orders and projections, `Post.author == "ada"`, and has the
/// fields of the object that it refers to: `Post.author.name == "Ada"`. These are unknown if the
/// key is, and if no object has it.
///
/// Where a field of the other object has the name of a member of this type, `related` leads to it:
/// `Post.author.related.isNull`.
@dynamicMemberLookup
public struct ToOneField<Value: QueryValue, Target: Atom, Root: Atom>: FieldExpression {
  /// The entity that has the field.
  public typealias Element = Root
  /// The field with the key.
  public let key: Field<Value, Root>

  /// The expression without its types, for Dflat.
  public var _tree: ExpressionTree { key._tree }

  /// The field with the key, for Dflat.
  public var _field: Field<Value, Root> { key }

  init(_ key: Field<Value, Root>) {
    self.key = key
  }

  /// The field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    self.init(Field(offset))
  }

  /// The fields of the object that the key refers to.
  ///
  /// `Post.author.related.isNull` is true for a post without an author, and for one whose author is
  /// not stored.
  public var related: Reference<Target, Root> { Reference(by: [key.descriptor]) }

  /// A field of the object that the key refers to.
  public subscript<Member>(dynamicMember path: KeyPath<Reference<Target, Root>, Member>) -> Member {
    related[keyPath: path]
  }
}

/// A vector of primary keys of other objects: `Post.tags`.
///
/// The elements are keys, `Post.tags.contains("swift")`, and lead to the objects that they refer
/// to: `Post.tags.any { $0.color == .red }`.
public struct ToManyField<Value: QueryValue, Target: Atom, Root: Atom>: Sendable {
  let path: VectorPath

  init(_ path: VectorPath) {
    self.path = path
  }

  /// The vector field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    path = VectorPath(containers: [Root._schema.root], offset: offset)
  }

  /// The vector of the keys, for what takes such vectors only.
  public var keys: VectorField<Value, Root> { VectorField(path) }

  /// The number of keys, whether or not an object has them; 0 for an absent vector.
  public var count: Field<Int, Root> { path.count() }

  /// Whether one of the keys equals `key`. False for an absent vector.
  public func contains(_ key: Value) -> Condition<Root> { keys.contains(key) }

  /// Whether the condition holds for at least one key, or the object that it refers to.
  ///
  /// False for an absent or empty vector. Unknown if it holds for none and is unknown for some: the
  /// fields of an object that is not stored are unknown.
  /// - Parameter condition: Called once, when the condition is written.
  public func any<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: ToOneField<Value, Target, Root>) -> C
  ) -> Condition<Root> {
    path.quantified(.any) { condition(ToOneField(Field($0.value)))._node }
  }

  /// Whether the condition holds for each key, or the object that it refers to. True for an absent
  /// or empty vector. Unknown if it is false for none and unknown for some.
  /// - Parameter condition: Called once, when the condition is written.
  public func all<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: ToOneField<Value, Target, Root>) -> C
  ) -> Condition<Root> {
    path.quantified(.all) { condition(ToOneField(Field($0.value)))._node }
  }
}

extension Reference where Target: Atom {
  /// The fields of the object with a key.
  /// - Parameter keys: The fields with the values of the key.
  init(by keys: [FieldDescriptor]) {
    let target = Target._schema
    self.init([
      FieldPath(
        name: "", steps: [], place: .table(target.layout), relation: TargetPath(keys, target))
    ])
  }
}

extension Reference {
  /// A reference of the target. For generated code.
  public func _relation<Value: QueryValue, Other: Atom>(
    _ offset: Int
  ) -> ToOneField<Value, Other, Root> { ToOneField(_field(offset)) }

  /// A vector of references of the target. For generated code.
  public func _relations<Value: QueryValue, Other: Atom>(
    _ offset: Int
  ) -> ToManyField<Value, Other, Root> {
    ToManyField(VectorPath(containers: ways, offset: offset))
  }

  /// The objects that refer to the target. For generated code.
  public func _inverse<Source: Atom>(_ offset: Int) -> InverseRelation<Source, Root>
  where Target: Atom { _inverse([offset]) }

  /// The objects that refer to the target by several fields. For generated code.
  public func _inverse<Source: Atom>(_ offsets: [Int]) -> InverseRelation<Source, Root>
  where Target: Atom {
    InverseRelation(
      fields(Target._schema.primaryKey.map(\.rootField)), offsets, condition: nil)
  }

  /// The scalar, enum or string fields of the target at some offsets.
  func fields(_ offsets: [Int]) -> [FieldDescriptor] {
    offsets.map { offset in
      let fields = ways.map { $0.field(offset, in: Root._schema) }
      return fields.count == 1 ? fields[0] : FieldDescriptor(oneOf: fields)
    }
  }
}
