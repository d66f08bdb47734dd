// Diagnostics for comparing a table, struct or union as if it were a value.
//
// As in Expression+Mismatch.swift, these operators accept the operands but require a conformance
// that is unavailable.

/// Required for comparing a table, struct or union field with a value. No type conforms.
public protocol ComparableAsValue: QueryReference {
  /// The stored type.
  associatedtype Stored
  /// The type of a member named without its contents.
  associatedtype Case
}

@available(
  *, unavailable,
  message: """
    conditions compare single fields: write 'Post.author.name == "a"'; \
    whether there is an author is 'Post.author.isNotNull'
    """
)
extension Reference: ComparableAsValue {
  /// The table or struct.
  public typealias Stored = Target
  /// Always `Never`: a table or struct has no members to name.
  public typealias Case = Never
}

@available(
  *, unavailable,
  message: """
    conditions do not compare unions: 'Post.content.match(Text.self)' asks for the member, \
    'Post.content.as(Text.self).title == "a"' for its fields, 'Post.content.isNull' for none
    """
)
extension UnionReference: ComparableAsValue {
  /// The union.
  public typealias Stored = Target
  /// One of its members.
  public typealias Case = UnionCase<Target>
}

/// A member of a union, named as in `Post.content == .text`. That is an error whose message names
/// the right form. For generated code.
public struct UnionCase<Target> {
  /// A placeholder for the member. For generated code.
  @inlinable
  public static var _unavailable: Self { unavailableCall() }
}

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func == <L: ComparableAsValue, E: Atom>(
  lhs: L, rhs: L.Stored?
) -> Condition<E> where L.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func == <L: ComparableAsValue, E: Atom>(
  lhs: L, rhs: L.Case
) -> Condition<E> where L.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func == <R: ComparableAsValue, E: Atom>(
  lhs: R.Stored?, rhs: R
) -> Condition<E> where R.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func == <R: ComparableAsValue, E: Atom>(
  lhs: R.Case, rhs: R
) -> Condition<E> where R.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func == <L: ComparableAsValue, R: ComparableAsValue, E: Atom>(
  lhs: L, rhs: R
) -> Condition<E> where L.Root == E, R.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func != <L: ComparableAsValue, E: Atom>(
  lhs: L, rhs: L.Stored?
) -> Condition<E> where L.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func != <L: ComparableAsValue, E: Atom>(
  lhs: L, rhs: L.Case
) -> Condition<E> where L.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func != <R: ComparableAsValue, E: Atom>(
  lhs: R.Stored?, rhs: R
) -> Condition<E> where R.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func != <R: ComparableAsValue, E: Atom>(
  lhs: R.Case, rhs: R
) -> Condition<E> where R.Root == E { unavailableCall() }

/// Not a comparison of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func != <L: ComparableAsValue, R: ComparableAsValue, E: Atom>(
  lhs: L, rhs: R
) -> Condition<E> where L.Root == E, R.Root == E { unavailableCall() }
