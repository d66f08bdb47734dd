// What operators say of operands that do not fit each other.
//
// Without these overloads the compiler looks at every operator `==` and `>` that there is for each comparison of the condition, and then
// names a place that is not the mistake's. They take whatever the others do not, at the price of a conformance that is
// unavailable: its message is the error. They are looked at last because they are disfavoured, and because the kinds of both operands,
// which are always equal, are compared: operators that relate their operands' types are no better a guess than the right ones.

/// What comparing an expression with a value of another type asks for. Nothing has it.
public protocol ComparableWithAnotherType {
  /// Always nothing.
  associatedtype OwnKind = Void
}

/// What combining an expression with a value of another type asks for, or by an operator that conditions do not have. Nothing has it.
public protocol CombinableWithAnotherType {
  /// Always nothing.
  associatedtype OwnKind = Void
}

extension Field: OperandOfAnotherType {}
extension Computed: OperandOfAnotherType {}
extension Reference: OperandOfAnotherType {}
extension UnionReference: OperandOfAnotherType {}
extension Optional: OperandOfAnotherType {}
extension Array: OperandOfAnotherType {}
extension Character: OperandOfAnotherType {}
extension Substring: OperandOfAnotherType {}
extension UInt: OperandOfAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority > Int32(count)'; \
    only '==' and '!=' take optional values, and types without an order such as URL
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
    only '==' and '!=' take optional values, and types without an order such as URL
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

// The compiler refuses every call that would lead here.
@usableFromInline
func unavailableCall() -> Never { preconditionFailure("a call that does not compile") }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func == <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func == <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func != <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func != <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func < <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func < <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func <= <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func <= <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func > <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func > <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func >= <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func >= <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func + <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func + <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func - <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func - <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func % <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: an error that says so.
@_disfavoredOverload
@inlinable
public func % <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func * <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func * <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func / <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func / <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }
