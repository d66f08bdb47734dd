// Arithmetic: `+`, `-`, `*` and `/` on numbers, `%` on integers, each for two expressions, or an
// expression and a value in either order; `-` and `abs` of one number.
//
// Results of integers are exact and have the type of the expression; `/` truncates. A result that
// does not fit the type is unknown, and so are a quotient and a remainder by zero.

extension QueryExpression {
  @inlinable
  func combined<Other: QueryExpression>(
    _ operation: ArithmeticOperator, _ other: Other
  ) -> Computed<Value, Element> {
    Computed(_node.combined(operation, other._node, Value._valueType))
  }

  @inlinable
  func combined(_ operation: ArithmeticOperator, _ value: Value) -> Computed<Value, Element> {
    Computed(_node.combined(operation, _node.constant(value), Value._valueType))
  }

  @inlinable
  func combined(_ value: Value, _ operation: ArithmeticOperator) -> Computed<Value, Element> {
    Computed(_node.constant(value).combined(operation, _node, Value._valueType))
  }
}

/// The sum, unknown if it does not fit the type.
@inlinable
public func + <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element>
where L.Value == R.Value, L.Element == R.Element, L.Value: Numeric {
  lhs.combined(.add, rhs)
}

/// The sum, unknown if it does not fit the type.
@inlinable
public func + <L: QueryExpression>(
  lhs: L, rhs: L.Value
) -> Computed<L.Value, L.Element> where L.Value: Numeric {
  lhs.combined(.add, rhs)
}

/// The sum, unknown if it does not fit the type.
@inlinable
public func + <R: QueryExpression>(
  lhs: R.Value, rhs: R
) -> Computed<R.Value, R.Element> where R.Value: Numeric {
  rhs.combined(lhs, .add)
}

/// The difference, unknown if it does not fit the type.
@inlinable
public func - <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element>
where L.Value == R.Value, L.Element == R.Element, L.Value: Numeric {
  lhs.combined(.subtract, rhs)
}

/// The difference, unknown if it does not fit the type.
@inlinable
public func - <L: QueryExpression>(
  lhs: L, rhs: L.Value
) -> Computed<L.Value, L.Element> where L.Value: Numeric {
  lhs.combined(.subtract, rhs)
}

/// The difference, unknown if it does not fit the type.
@inlinable
public func - <R: QueryExpression>(
  lhs: R.Value, rhs: R
) -> Computed<R.Value, R.Element> where R.Value: Numeric {
  rhs.combined(lhs, .subtract)
}

/// The product, unknown if it does not fit the type.
@inlinable
public func * <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element>
where L.Value == R.Value, L.Element == R.Element, L.Value: Numeric {
  lhs.combined(.multiply, rhs)
}

/// The product, unknown if it does not fit the type.
@inlinable
public func * <L: QueryExpression>(
  lhs: L, rhs: L.Value
) -> Computed<L.Value, L.Element> where L.Value: Numeric {
  lhs.combined(.multiply, rhs)
}

/// The product, unknown if it does not fit the type.
@inlinable
public func * <R: QueryExpression>(
  lhs: R.Value, rhs: R
) -> Computed<R.Value, R.Element> where R.Value: Numeric {
  rhs.combined(lhs, .multiply)
}

/// The quotient, of integers without its fraction; unknown for a right side of zero, and if it does
/// not fit the type.
@inlinable
public func / <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element>
where L.Value == R.Value, L.Element == R.Element, L.Value: Numeric {
  lhs.combined(.divide, rhs)
}

/// The quotient, of integers without its fraction; unknown for a right side of zero, and if it does
/// not fit the type.
@inlinable
public func / <L: QueryExpression>(
  lhs: L, rhs: L.Value
) -> Computed<L.Value, L.Element> where L.Value: Numeric {
  lhs.combined(.divide, rhs)
}

/// The quotient, of integers without its fraction; unknown for a right side of zero, and if it does
/// not fit the type.
@inlinable
public func / <R: QueryExpression>(
  lhs: R.Value, rhs: R
) -> Computed<R.Value, R.Element> where R.Value: Numeric {
  rhs.combined(lhs, .divide)
}

/// The remainder with the sign of the left side, unknown for a right side of zero.
@inlinable
public func % <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Computed<L.Value, L.Element>
where L.Value == R.Value, L.Element == R.Element, L.Value: BinaryInteger {
  lhs.combined(.remainder, rhs)
}

/// The remainder with the sign of the left side, unknown for a right side of zero.
@inlinable
public func % <L: QueryExpression>(
  lhs: L, rhs: L.Value
) -> Computed<L.Value, L.Element> where L.Value: BinaryInteger {
  lhs.combined(.remainder, rhs)
}

/// The remainder with the sign of the left side, unknown for a right side of zero.
@inlinable
public func % <R: QueryExpression>(
  lhs: R.Value, rhs: R
) -> Computed<R.Value, R.Element> where R.Value: BinaryInteger {
  rhs.combined(lhs, .remainder)
}

extension QueryExpression {
  @usableFromInline
  func combined(_ operation: UnaryOperator) -> Computed<Value, Element> {
    Computed(_node.combined(operation, Value._valueType))
  }
}

/// The number with the opposite sign, unknown if it does not fit the type.
@inlinable
public prefix func - <P: QueryExpression>(operand: P) -> Computed<P.Value, P.Element>
where P.Value: SignedNumeric {
  operand.combined(.negate)
}

/// The number without its sign, unknown if it does not fit the type.
@inlinable
public func abs<P: QueryExpression>(_ operand: P) -> Computed<P.Value, P.Element>
where P.Value: SignedNumeric {
  operand.combined(.magnitude)
}
