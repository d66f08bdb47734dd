// `&&`, `||` and `!` of conditions, in three-valued logic.
//
// `&&` is false if either side is false, `||` true if either side is true; otherwise they are unknown if either side is.

/// True if both sides are true.
@inlinable
public func && <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.Value == Bool, R.Value == Bool, L.Element == R.Element {
  Computed(.and(lhs._node, rhs._node))
}

/// True if both sides are true.
@inlinable
public func && <L: QueryExpression>(lhs: L, rhs: Bool) -> Condition<L.Element>
where L.Value == Bool {
  Computed(.and(lhs._node, .constant(.bool(rhs), .bool)))
}

/// True if both sides are true.
@inlinable
public func && <R: QueryExpression>(lhs: Bool, rhs: R) -> Condition<R.Element>
where R.Value == Bool {
  Computed(.and(.constant(.bool(lhs), .bool), rhs._node))
}

/// True if either side is true.
@inlinable
public func || <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.Value == Bool, R.Value == Bool, L.Element == R.Element {
  Computed(.or(lhs._node, rhs._node))
}

/// True if either side is true.
@inlinable
public func || <L: QueryExpression>(lhs: L, rhs: Bool) -> Condition<L.Element>
where L.Value == Bool {
  Computed(.or(lhs._node, .constant(.bool(rhs), .bool)))
}

/// True if either side is true.
@inlinable
public func || <R: QueryExpression>(lhs: Bool, rhs: R) -> Condition<R.Element>
where R.Value == Bool {
  Computed(.or(.constant(.bool(lhs), .bool), rhs._node))
}

/// True for false, false for true, unknown for unknown.
@inlinable
public prefix func ! <P: QueryExpression>(operand: P) -> Condition<P.Element>
where P.Value == Bool {
  Computed(.not(operand._node))
}
