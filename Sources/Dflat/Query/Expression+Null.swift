// Nil in conditions: `==` and `!=` with `nil` and with optional values.
//
// Without these operators, `Post.tag == nil` would be Swift's comparison of an optional, which is
// false for every object. Nil stands for an unknown value, so the results are those of `isNull` and
// `isNotNull`, and never unknown themselves.

/// A table, struct or union field that conditions can test for presence.
public protocol QueryReference<Root>: Sendable {
  /// The entity that has the field.
  associatedtype Root: Atom
  /// Whether no value is stored. Never unknown.
  var isNull: Condition<Root> { get }
  /// Whether a value is stored. Never unknown.
  var isNotNull: Condition<Root> { get }
}

extension QueryExpression {
  @inlinable
  func compared(isEqual: Bool, _ value: Value?) -> Condition<Element> {
    guard let value else { return isEqual ? isNull : isNotNull }
    return compared(isEqual ? .equal : .notEqual, value)
  }
}

/// Whether no value is stored: `isNull`.
@inlinable
public func == <L: QueryReference, E: Atom>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Condition<E> where L.Root == E { lhs.isNull }

/// Whether no value is stored: `isNull`.
@inlinable
public func == <R: QueryReference, E: Atom>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Condition<E> where R.Root == E { rhs.isNull }

/// Whether both sides are equal; for nil, whether the expression is unknown.
@inlinable
public func == <L: QueryExpression, V: QueryValue>(
  lhs: L, rhs: V?
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(isEqual: true, rhs)
}

/// Whether both sides are equal; for nil, whether the expression is unknown.
@inlinable
public func == <V: QueryValue, R: QueryExpression>(
  lhs: V?, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(isEqual: true, lhs)
}

/// Whether a value is stored: `isNotNull`.
@inlinable
public func != <L: QueryReference, E: Atom>(
  lhs: L, rhs: _OptionalNilComparisonType
) -> Condition<E> where L.Root == E { lhs.isNotNull }

/// Whether a value is stored: `isNotNull`.
@inlinable
public func != <R: QueryReference, E: Atom>(
  lhs: _OptionalNilComparisonType, rhs: R
) -> Condition<E> where R.Root == E { rhs.isNotNull }

/// Whether both sides differ; for nil, whether the expression is known.
@inlinable
public func != <L: QueryExpression, V: QueryValue>(
  lhs: L, rhs: V?
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(isEqual: false, rhs)
}

/// Whether both sides differ; for nil, whether the expression is known.
@inlinable
public func != <V: QueryValue, R: QueryExpression>(
  lhs: V?, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(isEqual: false, lhs)
}
