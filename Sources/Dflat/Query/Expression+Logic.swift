// `&&`, `||` and `!` of conditions, in three-valued logic.
//
// `&&` is false if either side is false, `||` is true if either side is true; otherwise they are
// unknown if either side is.
//
// The overloads with a plain `Bool` are disfavoured: the compiler stops searching once it has found
// a solution without them. Otherwise each `&&` of a long condition would double the time to
// type-check it.
//
// Their results are written as optionals that are unwrapped where they are used, and are never nil.
// Once `!` of a plain `Bool` fits, the compiler looks at a generic `!` only if the other one needs
// such an unwrapping. Otherwise, in `!(Post.title == nil) && Post.likes > 3`, it would compare the
// name with nil and take the left side for a constant.

// Long conditions stay flat.
extension Node {
  @usableFromInline
  package static func conjunction(_ left: Node, _ right: Node) -> Node {
    if left.isConstant(true) { return right }
    if right.isConstant(true) { return left }
    return .and(NodeParts(left.conjuncts, right.conjuncts))
  }

  @usableFromInline
  package static func disjunction(_ left: Node, _ right: Node) -> Node {
    if left.isConstant(false) { return right }
    if right.isConstant(false) { return left }
    return .or(NodeParts(left.disjuncts, right.disjuncts))
  }

  /// The negation. Unknown stays unknown, so two negations are none.
  @usableFromInline
  package static func negation(_ operand: Node) -> Node {
    if case .not(let inner) = operand { inner } else { .not(operand) }
  }

  private var conjuncts: NodeParts {
    if case .and(let parts) = self { parts } else { [self] }
  }

  private var disjuncts: NodeParts {
    if case .or(let parts) = self { parts } else { [self] }
  }

  /// Whether it is this truth value for all objects, which changes nothing in `&&` or `||`.
  private func isConstant(_ truth: Bool) -> Bool {
    guard case .constant(.bool(let value), _) = self else { return false }
    return value == truth
  }
}

extension Computed where Value == Bool {
  /// The condition that is true for every object: the beginning of one that is built step by step
  /// with `&&`.
  ///
  ///     var condition: Condition<Post> = .always
  ///     if onlyOpen { condition = condition && Post.state == .open }
  ///     if let tag { condition = condition && Post.tag == tag }
  ///     let found = dflat.fetch(for: Post.self).where(condition)
  ///
  /// What is added is answered as if it stood alone.
  @inlinable
  public static var always: Condition<Element> { Computed(.constant(.bool(true), .bool)) }

  /// The condition that is true for no object: the beginning of one that is built step by step with
  /// `||`.
  ///
  ///     var condition: Condition<Post> = .never
  ///     for word in words { condition = condition || Post.title.contains(word) }
  @inlinable
  public static var never: Condition<Element> { Computed(.constant(.bool(false), .bool)) }
}

/// True if both sides are true.
@inlinable
public func && <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.Value == Bool, R.Value == Bool, L.Element == R.Element {
  Computed(Node.conjunction(lhs._node, rhs._node))
}

/// True if both sides are true. Never nil: a variable for it needs its type,
/// `let open: Condition<Post> = …`.
@_disfavoredOverload
@inlinable
public func && <L: QueryExpression>(lhs: L, rhs: Bool) -> Condition<L.Element>!
where L.Value == Bool {
  Computed(Node.conjunction(lhs._node, .constant(.bool(rhs), .bool)))
}

/// True if both sides are true. Never nil: a variable for it needs its type,
/// `let open: Condition<Post> = …`.
@_disfavoredOverload
@inlinable
public func && <R: QueryExpression>(lhs: Bool, rhs: R) -> Condition<R.Element>!
where R.Value == Bool {
  Computed(Node.conjunction(.constant(.bool(lhs), .bool), rhs._node))
}

/// True if either side is true.
@inlinable
public func || <L: QueryExpression, R: QueryExpression>(
  lhs: L, rhs: R
) -> Condition<L.Element> where L.Value == Bool, R.Value == Bool, L.Element == R.Element {
  Computed(Node.disjunction(lhs._node, rhs._node))
}

/// True if either side is true. Never nil: a variable for it needs its type,
/// `let open: Condition<Post> = …`.
@_disfavoredOverload
@inlinable
public func || <L: QueryExpression>(lhs: L, rhs: Bool) -> Condition<L.Element>!
where L.Value == Bool {
  Computed(Node.disjunction(lhs._node, .constant(.bool(rhs), .bool)))
}

/// True if either side is true. Never nil: a variable for it needs its type,
/// `let open: Condition<Post> = …`.
@_disfavoredOverload
@inlinable
public func || <R: QueryExpression>(lhs: Bool, rhs: R) -> Condition<R.Element>!
where R.Value == Bool {
  Computed(Node.disjunction(.constant(.bool(lhs), .bool), rhs._node))
}

/// True for false, false for true, unknown for unknown.
@inlinable
public prefix func ! <P: QueryExpression>(operand: P) -> Condition<P.Element>
where P.Value == Bool {
  Computed(Node.negation(operand._node))
}
