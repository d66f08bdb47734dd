// Comparison operators, each for two expressions, or an expression and a value in either order.
//
// Strings compare by their UTF-8 bytes, unsigned integers over their whole range, false before
// true. The result is unknown if either side is. Nil is not a value: compared with nil, `==` and
// `!=` test whether the other side is unknown; see Expression+Null.swift. Two expressions of
// integer types are compared by value, also if the types differ.
//
// Values have their own type parameter `V`, although it always equals that of the expression. The
// compiler then ranks these operators as high as those of the standard library, and type-checks
// long conditions in a fraction of the time.

extension QueryExpression {
  @inlinable
  func compared<Other: QueryExpression>(
    _ operation: ComparisonOperator, _ other: Other
  ) -> Condition<Element> {
    Computed(_node.compared(operation, other._node, Value._valueType, Other.Value._valueType))
  }

  @inlinable
  func compared(_ operation: ComparisonOperator, _ value: Value) -> Condition<Element> {
    let node = _node
    if operation == .equal, case .field(let field) = node, field.form == nil {
      return Computed(Equality(field, value._value))
    }
    return Computed(node.compared(operation, to: value))
  }
}

/// Whether both sides are equal.
@inlinable
public func == <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element {
  lhs.compared(.equal, rhs)
}

/// Whether both sides are equal.
@inlinable
public func == <L: QueryExpression, V: QueryValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.equal, rhs)
}

/// Whether both sides are equal.
@inlinable
public func == <V: QueryValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.equal.mirrored, lhs)
}

/// Whether both sides differ.
@inlinable
public func != <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element {
  lhs.compared(.notEqual, rhs)
}

/// Whether both sides differ.
@inlinable
public func != <L: QueryExpression, V: QueryValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.notEqual, rhs)
}

/// Whether both sides differ.
@inlinable
public func != <V: QueryValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.notEqual.mirrored, lhs)
}

/// Whether the left side comes before the right.
@inlinable
public func < <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where
  L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element, L.Value: DflatFriendlyValue,
  R.Value: DflatFriendlyValue
{
  lhs.compared(.less, rhs)
}

/// Whether the left side comes before the right.
@inlinable
public func < <L: QueryExpression, V: DflatFriendlyValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.less, rhs)
}

/// Whether the left side comes before the right.
@inlinable
public func < <V: DflatFriendlyValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.less.mirrored, lhs)
}

/// Whether the left side comes before the right or equals it.
@inlinable
public func <= <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where
  L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element, L.Value: DflatFriendlyValue,
  R.Value: DflatFriendlyValue
{
  lhs.compared(.lessOrEqual, rhs)
}

/// Whether the left side comes before the right or equals it.
@inlinable
public func <= <L: QueryExpression, V: DflatFriendlyValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.lessOrEqual, rhs)
}

/// Whether the left side comes before the right or equals it.
@inlinable
public func <= <V: DflatFriendlyValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.lessOrEqual.mirrored, lhs)
}

/// Whether the left side comes after the right.
@inlinable
public func > <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where
  L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element, L.Value: DflatFriendlyValue,
  R.Value: DflatFriendlyValue
{
  lhs.compared(.greater, rhs)
}

/// Whether the left side comes after the right.
@inlinable
public func > <L: QueryExpression, V: DflatFriendlyValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.greater, rhs)
}

/// Whether the left side comes after the right.
@inlinable
public func > <V: DflatFriendlyValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.greater.mirrored, lhs)
}

/// Whether the left side comes after the right or equals it.
@inlinable
public func >= <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element>
where
  L.Value.TypeFamily == R.Value.TypeFamily, L.Element == R.Element, L.Value: DflatFriendlyValue,
  R.Value: DflatFriendlyValue
{
  lhs.compared(.greaterOrEqual, rhs)
}

/// Whether the left side comes after the right or equals it.
@inlinable
public func >= <L: QueryExpression, V: DflatFriendlyValue>(
  lhs: L, rhs: V
) -> Condition<L.Element> where L.Value == V {
  lhs.compared(.greaterOrEqual, rhs)
}

/// Whether the left side comes after the right or equals it.
@inlinable
public func >= <V: DflatFriendlyValue, R: QueryExpression>(
  lhs: V, rhs: R
) -> Condition<R.Element> where R.Value == V {
  rhs.compared(ComparisonOperator.greaterOrEqual.mirrored, lhs)
}

// A range is a conjunction of two comparisons, so that keys and indexes answer it.
extension QueryExpression where Value: DflatFriendlyValue {
  /// Whether the value is `low`, `high` or between them: `e >= low && e <= high`. If `low` is
  /// greater than `high`, that is false for every known value.
  @inlinable
  public func between(_ low: Value, _ high: Value) -> Condition<Element> {
    Computed(
      Node.conjunction(
        compared(.greaterOrEqual, low)._node, compared(.lessOrEqual, high)._node))
  }

  /// Whether the value is in the range: `e >= range.lowerBound && e <= range.upperBound`.
  @inlinable
  public func between(_ range: ClosedRange<Value>) -> Condition<Element> {
    between(range.lowerBound, range.upperBound)
  }
}

// Ranges beside lists of values: a range may have very many of them, or no end.
extension QueryExpression where Value: DflatFriendlyValue {
  /// Whether the value is in the range, as by `between`; no value of it is listed.
  @inlinable
  public func `in`(_ range: ClosedRange<Value>) -> Condition<Element> { between(range) }

  /// Whether the value is in the range: `e >= range.lowerBound && e < range.upperBound`.
  @inlinable
  public func `in`(_ range: Range<Value>) -> Condition<Element> {
    Computed(
      Node.conjunction(
        compared(.greaterOrEqual, range.lowerBound)._node,
        compared(.less, range.upperBound)._node))
  }

  /// Whether the value is in the range: `e >= range.lowerBound`.
  @inlinable
  public func `in`(_ range: PartialRangeFrom<Value>) -> Condition<Element> {
    compared(.greaterOrEqual, range.lowerBound)
  }

  /// Whether the value is in the range: `e <= range.upperBound`.
  @inlinable
  public func `in`(_ range: PartialRangeThrough<Value>) -> Condition<Element> {
    compared(.lessOrEqual, range.upperBound)
  }

  /// Whether the value is in the range: `e < range.upperBound`.
  @inlinable
  public func `in`(_ range: PartialRangeUpTo<Value>) -> Condition<Element> {
    compared(.less, range.upperBound)
  }

  /// Whether the value is not in the range; unknown if the value is unknown.
  @inlinable
  public func notIn(_ range: ClosedRange<Value>) -> Condition<Element> { !`in`(range) }

  /// Whether the value is not in the range; unknown if the value is unknown.
  @inlinable
  public func notIn(_ range: Range<Value>) -> Condition<Element> { !`in`(range) }

  /// Whether the value is not in the range; unknown if the value is unknown.
  @inlinable
  public func notIn(_ range: PartialRangeFrom<Value>) -> Condition<Element> { !`in`(range) }
}
