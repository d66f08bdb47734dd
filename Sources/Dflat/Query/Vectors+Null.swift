// Nil compared with vectors and relations: whether there are no elements.
//
// A vector that is absent reads as an empty one, so `== nil` means the same for both. Without these
// operators, `Post.tags == nil` in a longer condition would be Swift's comparison of an optional,
// which is false for every object. As elsewhere, a comparison with nil is never unknown.

/// A vector or relation of an entity, which can be compared with nil.
public protocol QueryElements<Root>: Sendable {
  /// The entity.
  associatedtype Root: Atom
  /// The number of elements; unknown behind a missing reference.
  var count: Field<Int, Root> { get }
}

extension VectorField: QueryElements {}
extension VectorReference: QueryElements {}
extension UnionVectorReference: QueryElements {}
extension ToManyField: QueryElements {}
extension InverseRelation: QueryElements {}

extension QueryElements {
  @usableFromInline var hasNone: Condition<Root> { count.isNull || count == 0 }
  @usableFromInline var hasSome: Condition<Root> { count.isNotNull && count > 0 }
}

/// Whether there are no elements. Never unknown.
@inlinable
public func == <L: QueryElements, E: Atom>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Condition<E> where L.Root == E { lhs.hasNone }

/// Whether there are no elements. Never unknown.
@inlinable
public func == <R: QueryElements, E: Atom>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Condition<E> where R.Root == E { rhs.hasNone }

/// Whether there are elements. Never unknown.
@inlinable
public func != <L: QueryElements, E: Atom>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Condition<E> where L.Root == E { lhs.hasSome }

/// Whether there are elements. Never unknown.
@inlinable
public func != <R: QueryElements, E: Atom>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Condition<E> where R.Root == E { rhs.hasSome }
