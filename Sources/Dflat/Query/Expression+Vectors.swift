// Conditions on vectors: the number of elements, and tests of the elements.
//
// An absent vector is empty, as it is for the properties of objects. A vector behind a missing
// reference is unknown, as everything there. `any` is the disjunction of the elements' conditions
// and `all` their conjunction, in three-valued logic.

/// Whether a condition must hold for one element of a vector or for all.
@usableFromInline package enum Quantifier: Sendable {
  case any, all
}

/// The path to a vector: a field of one table, or of one of several union members.
struct VectorPath: Sendable {
  let containers: [FieldPath]
  let offset: Int

  /// The number of elements; 0 for an absent vector.
  func count<Root: Atom>() -> Field<Int, Root> {
    Field(oneOf: containers.map { $0.vector(offset) })
  }

  func quantified<Root: Atom>(
    _ quantifier: Quantifier, _ condition: (ElementVariable) -> Node
  ) -> Condition<Root> {
    let element = ElementVariable(containers, offset)
    return Computed(.quantified(quantifier, element, condition(element)))
  }
}

/// A vector of scalars, enums or strings: `Post.tags.contains("swift")`.
public struct VectorField<Value: QueryValue, Root: Atom>: Sendable {
  let path: VectorPath

  init(_ path: VectorPath) {
    self.path = path
  }

  /// The vector field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    path = VectorPath(containers: [Root._schema.root], offset: offset)
  }

  /// The number of elements; 0 for an absent vector.
  public var count: Field<Int, Root> { path.count() }

  /// Whether one of the elements equals `value`. False for an absent vector.
  public func contains(_ value: Value) -> Condition<Root> {
    any { $0 == value }
  }

  /// Whether the condition holds for at least one element: `Post.tags.any { $0.hasPrefix("sw") }`.
  ///
  /// False for an absent or empty vector. Unknown if it holds for none and is unknown for some.
  /// - Parameter condition: Called once, when the condition is written.
  public func any<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: Field<Value, Root>) -> C
  ) -> Condition<Root> { path.quantified(.any) { condition(Field($0.value))._node } }

  /// Whether the condition holds for each element. True for an absent or empty vector. Unknown if
  /// it is false for none and unknown for some.
  /// - Parameter condition: Called once, when the condition is written.
  public func all<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: Field<Value, Root>) -> C
  ) -> Condition<Root> { path.quantified(.all) { condition(Field($0.value))._node } }
}

/// A vector of tables or structs: `Post.comments.any { $0.likes > 3 && $0.author == "Ada" }`.
public struct VectorReference<Target, Root: Atom>: Sendable {
  let path: VectorPath

  init(_ path: VectorPath) {
    self.path = path
  }

  /// The vector field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    path = VectorPath(containers: [Root._schema.root], offset: offset)
  }

  /// The number of elements; 0 for an absent vector.
  public var count: Field<Int, Root> { path.count() }

  /// Whether the condition holds for at least one element.
  ///
  /// It may mention fields of the element and of the object: `Post.comments.any { $0.likes >
  /// Post.likes }`. False for an absent or empty vector. Unknown if it holds for none and is
  /// unknown for some.
  /// - Parameter condition: Called once, when the condition is written.
  public func any<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: Reference<Target, Root>) -> C
  ) -> Condition<Root> { path.quantified(.any) { condition(Reference([$0.reference]))._node } }

  /// Whether the condition holds for each element. True for an absent or empty vector. Unknown if
  /// it is false for none and unknown for some.
  /// - Parameter condition: Called once, when the condition is written.
  public func all<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: Reference<Target, Root>) -> C
  ) -> Condition<Root> { path.quantified(.all) { condition(Reference([$0.reference]))._node } }
}

/// A vector of unions: `Post.blocks.any { $0.as(Photo.self).width > 640 }`.
///
/// Elements that are empty, or have a member that this version of the schema does not know, are
/// left out, as they are in the property of the object.
public struct UnionVectorReference<Target, Root: Atom>: Sendable {
  let path: VectorPath

  init(_ path: VectorPath) {
    self.path = path
  }

  /// The vector field of the entity at a vtable offset. For generated code.
  public init(_ offset: Int) {
    path = VectorPath(containers: [Root._schema.root], offset: offset)
  }

  /// The number of elements; 0 for an absent vector.
  public var count: Field<Int, Root> { path.count() }

  /// Whether the condition holds for at least one element.
  ///
  /// The element is asked like a union field: `match` tells which member it is, and the fields of
  /// another member than that of `as` are unknown. The condition may mention fields of the object,
  /// too. False for an absent or empty vector. Unknown if it holds for none and is unknown for
  /// some.
  /// - Parameter condition: Called once, when the condition is written.
  public func any<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: UnionReference<Target, Root>) -> C
  ) -> Condition<Root> { path.quantified(.any) { condition(UnionReference($0))._node } }

  /// Whether the condition holds for each element. True for an absent or empty vector. Unknown if
  /// it is false for none and unknown for some.
  ///
  ///     Post.blocks.all { !$0.match(Photo.self) || $0.as(Photo.self).width > 640 }
  /// - Parameter condition: Called once, when the condition is written.
  public func all<C: QueryExpression<Bool, Root>>(
    _ condition: (_ element: UnionReference<Target, Root>) -> C
  ) -> Condition<Root> { path.quantified(.all) { condition(UnionReference($0))._node } }

  /// Whether an element contains one of the members with these tags. For generated code.
  public func _contains(_ tags: Int32...) -> Condition<Root> {
    any { $0.contains(anyOf: tags) }
  }
}

extension UnionReference {
  /// An element of a vector. It is the whole place of the union, so the offset has no meaning.
  fileprivate init(_ element: ElementVariable) {
    self.init([element.reference], 0)
  }
}

extension Reference {
  /// A vector of scalars, enums or strings of the target. For generated code.
  public func _vector<Value>(_ offset: Int) -> VectorField<Value, Root> {
    VectorField(VectorPath(containers: ways, offset: offset))
  }

  /// A vector of tables or structs of the target. For generated code.
  public func _vector<Inner>(_ offset: Int) -> VectorReference<Inner, Root> {
    VectorReference(VectorPath(containers: ways, offset: offset))
  }

  /// A vector of unions of the target. For generated code.
  public func _vector<Union>(_ offset: Int) -> UnionVectorReference<Union, Root> {
    UnionVectorReference(VectorPath(containers: ways, offset: offset))
  }
}
