// Diagnostics for operations that Swift's strings and optionals have and conditions do not.
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

extension QueryExpression where Value == String {
  /// Not a condition: reports an error.
  @available(
    *, unavailable,
    message: """
      conditions do not search in strings: fetch by another condition and filter the result, \
      as in 'all().filter { $0.title.contains("x") }'
      """
  )
  public func contains(_ part: some StringProtocol) -> Condition<Element> { unavailableCall() }

  /// Not a condition: reports an error.
  @available(
    *, unavailable,
    message: """
      conditions compare whole strings: a prefix is a range, as in \
      'Post.title >= "ab" && Post.title < "ac"'; or filter the result with \
      'filter { $0.title.hasPrefix("ab") }'
      """
  )
  public func hasPrefix(_ prefix: some StringProtocol) -> Condition<Element> { unavailableCall() }

  /// Not a condition: reports an error.
  @available(
    *, unavailable,
    message: """
      conditions do not search in strings: fetch by another condition and filter the result, \
      as in 'all().filter { $0.title.hasSuffix("x") }'
      """
  )
  public func hasSuffix(_ suffix: some StringProtocol) -> Condition<Element> { unavailableCall() }
}
