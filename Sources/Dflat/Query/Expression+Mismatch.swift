// Diagnostics for operators whose operands do not fit each other.
//
// Without these overloads the compiler tries every `==` and `>` there is for each comparison of the
// condition, and then reports an error in the wrong place. These overloads accept the remaining
// operands but require a conformance that is unavailable; its message is the error. The compiler
// tries them last because they are disfavoured. They also compare the kinds of both operands, which
// are always equal: the compiler would otherwise rank operators that relate the types of their
// operands as high as the right ones.

/// Required for comparing an expression with a value of another type. No type conforms.
public protocol ComparableWithAnotherType {
  /// Always `Void`.
  associatedtype OwnKind = Void
}

/// Required for combining an expression with a value of another type, or for an operator that
/// conditions do not support. No type conforms.
public protocol CombinableWithAnotherType {
  /// Always `Void`.
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
    conditions have '+', '-', '*' and '/' of numbers and '%' of integers
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
extension ToOneField: ComparableWithAnotherType {}

@available(
  *, unavailable,
  message: """
    both sides have one type: convert the value, as in 'Post.priority + Int32(count)'; \
    conditions have '+', '-', '*' and '/' of numbers and '%' of integers
    """
)
extension ToOneField: CombinableWithAnotherType {}

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
    conditions have '+', '-', '*' and '/' of numbers and '%' of integers
    """
)
extension Computed: CombinableWithAnotherType {}

// The compiler rejects every call that would lead here.
@usableFromInline
func unavailableCall() -> Never { preconditionFailure("a call that does not compile") }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func == <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func == <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func != <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func != <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func < <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func < <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func <= <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func <= <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func > <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func > <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func >= <L: QueryExpression & ComparableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func >= <L: OperandOfAnotherType, R: QueryExpression & ComparableWithAnotherType>(
  lhs: L?, rhs: R
) -> Condition<R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func + <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func + <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func - <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func - <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func % <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func % <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func * <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func * <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func / <L: QueryExpression & CombinableWithAnotherType, R: OperandOfAnotherType>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element> where L.OwnKind == R.OtherKind { unavailableCall() }

/// Operands of different types: reports an error.
@_disfavoredOverload
@inlinable
public func / <L: OperandOfAnotherType, R: QueryExpression & CombinableWithAnotherType>(
  lhs: L?, rhs: R
) -> Computed<R.Value, R.Element> where L.OtherKind == R.OwnKind { unavailableCall() }
