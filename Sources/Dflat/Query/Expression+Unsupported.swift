// Diagnostics for an operation that Swift's optionals have and conditions do not.
//
// `??` has the types of a correct call, so that the rest of a long condition type-checks as fast as
// usual. The error comes from an unavailable conformance, as in Expression+Mismatch.swift.

/// Required for a default for an unknown value. No type conforms.
public protocol ReplaceableByDefault {}

@available(
  *, unavailable,
  message: """
    conditions have no default for unknown values: write 'Post.tag == "a" || Post.tag.isNull', \
    or 'Post.tag == "a"' alone, which leaves out objects without a value
    """
)
extension Field: ReplaceableByDefault {}

@available(
  *, unavailable,
  message: """
    conditions have no default for unknown values: write 'Post.tag == "a" || Post.tag.isNull', \
    or 'Post.tag == "a"' alone, which leaves out objects without a value
    """
)
extension Computed: ReplaceableByDefault {}

/// Not an operator of conditions: reports an error.
@_disfavoredOverload
@inlinable
public func ?? <L: QueryExpression & ReplaceableByDefault>(
  lhs: L, rhs: @autoclosure () -> L.Value
) -> Computed<L.Value, L.Element> { unavailableCall() }
