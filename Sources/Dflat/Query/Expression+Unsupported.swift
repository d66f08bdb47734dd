// What the compiler says of calls that strings and optionals of Swift have and conditions have not.
//
// The types of `??` are those of a correct call, so that the rest of a long condition is checked as fast as ever; the error is that of a
// conformance that is unavailable, as in Expression+Mismatch.swift.

/// What a default for an unknown value asks for. Nothing has it.
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

/// No operator of conditions: an error that says so.
@_disfavoredOverload
@inlinable
public func ?? <L: QueryExpression & ReplaceableByDefault>(
  lhs: L, rhs: @autoclosure () -> L.Value
) -> Computed<L.Value, L.Element> { unavailableCall() }

extension QueryExpression where Value == String {
  /// No condition: an error that says so.
  @available(
    *, unavailable,
    message: """
      conditions do not search in strings: fetch by another condition and filter the result, \
      as in 'all().filter { $0.title.contains("x") }'
      """
  )
  public func contains(_ part: some StringProtocol) -> Condition<Element> { unavailableCall() }

  /// No condition: an error that says so.
  @available(
    *, unavailable,
    message: """
      conditions compare whole strings: a prefix is a range, as in \
      'Post.title >= "ab" && Post.title < "ac"'; or filter the result with \
      'filter { $0.title.hasPrefix("ab") }'
      """
  )
  public func hasPrefix(_ prefix: some StringProtocol) -> Condition<Element> { unavailableCall() }

  /// No condition: an error that says so.
  @available(
    *, unavailable,
    message: """
      conditions do not search in strings: fetch by another condition and filter the result, \
      as in 'all().filter { $0.title.hasSuffix("x") }'
      """
  )
  public func hasSuffix(_ suffix: some StringProtocol) -> Condition<Element> { unavailableCall() }
}
