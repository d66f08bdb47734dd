// Compiler errors for lists of values of another type than the expression's.

extension QueryExpression {
  /// Not a list of the expression's type: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the values have the type of the field: convert them, as in \
      'Post.priority.in(numbers.map(Int32.init))'
      """
  )
  public func `in`<Values: Sequence>(_ values: Values) -> Condition<Element> { unavailableCall() }

  /// Not a list of the expression's type: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      the values have the type of the field: convert them, as in \
      'Post.priority.notIn(numbers.map(Int32.init))'
      """
  )
  public func notIn<Values: Sequence>(_ values: Values) -> Condition<Element> { unavailableCall() }
}
