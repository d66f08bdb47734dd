// What operators say of operands that do not fit each other.
//
// Without these overloads the compiler looks at every operator `==` and `>` that there is for each comparison of the condition, and then
// names a place that is not the mistake's. They take whatever the others do not, at the price of a conformance that is
// unavailable: its message is the error. To be looked at last they are disfavoured, take the other operand as a tuple that a
// single value is, too, and name the element as a parameter of its own. Those for
// a value on the left take an optional, so that of two expressions the left one is in error.

/// What comparing an expression with a value of another type asks for. Nothing has it.
public protocol ComparableWithAnotherType {}

/// What combining an expression with a value of another type asks for, or by an operator that conditions do not have. Nothing has it.
public protocol CombinableWithAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority > Int32(count)'; \
    only '==' and '!=' take optional values
    """
)
extension Field: ComparableWithAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority + Int32(count)'; \
    conditions have '+' and '-' of numbers and '%' of integers
    """
)
extension Field: CombinableWithAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority > Int32(count)'; \
    only '==' and '!=' take optional values
    """
)
extension Computed: ComparableWithAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority + Int32(count)'; \
    conditions have '+' and '-' of numbers and '%' of integers
    """
)
extension Computed: CombinableWithAnotherType {}

// None of them can be called: no expression has the conformance.
@usableFromInline
func unavailableOperator() -> Never { preconditionFailure("operands of different types") }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func == <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func == <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func != <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func != <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func < <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func < <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func <= <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func <= <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func > <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func > <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func >= <L: QueryExpression & ComparableWithAnotherType, E: Atom, each R>(
  lhs: L, rhs: (repeat each R)
) -> Condition<E> where L.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func >= <R: QueryExpression & ComparableWithAnotherType, E: Atom, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Condition<E> where R.Element == E { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func + <L: QueryExpression & CombinableWithAnotherType, E: Atom, V, each R>(
  lhs: L, rhs: (repeat each R)
) -> Computed<V, E> where L.Element == E, L.Value == V { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func + <R: QueryExpression & CombinableWithAnotherType, E: Atom, V, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Computed<V, E> where R.Element == E, R.Value == V { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func - <L: QueryExpression & CombinableWithAnotherType, E: Atom, V, each R>(
  lhs: L, rhs: (repeat each R)
) -> Computed<V, E> where L.Element == E, L.Value == V { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func - <R: QueryExpression & CombinableWithAnotherType, E: Atom, V, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Computed<V, E> where R.Element == E, R.Value == V { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func % <L: QueryExpression & CombinableWithAnotherType, E: Atom, V, each R>(
  lhs: L, rhs: (repeat each R)
) -> Computed<V, E> where L.Element == E, L.Value == V { unavailableOperator() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func % <R: QueryExpression & CombinableWithAnotherType, E: Atom, V, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Computed<V, E> where R.Element == E, R.Value == V { unavailableOperator() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func * <L: QueryExpression & CombinableWithAnotherType, E: Atom, V, each R>(
  lhs: L, rhs: (repeat each R)
) -> Computed<V, E> where L.Element == E, L.Value == V { unavailableOperator() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func * <R: QueryExpression & CombinableWithAnotherType, E: Atom, V, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Computed<V, E> where R.Element == E, R.Value == V { unavailableOperator() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func / <L: QueryExpression & CombinableWithAnotherType, E: Atom, V, each R>(
  lhs: L, rhs: (repeat each R)
) -> Computed<V, E> where L.Element == E, L.Value == V { unavailableOperator() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func / <R: QueryExpression & CombinableWithAnotherType, E: Atom, V, each L>(
  lhs: (repeat each L)?, rhs: R
) -> Computed<V, E> where R.Element == E, R.Value == V { unavailableOperator() }
