// Conditions on bit flags: enums that the schema declares with `bit_flags`.

extension QueryExpression where Value: OptionSet {
  /// Whether all of these flags are set; true for none of them, unknown if the field is.
  ///
  ///     posts.where(Post.labels.contains([.pinned, .draft]))
  @inlinable
  public func contains(_ flags: Value) -> Condition<Element> {
    masked(flags).compared(.equal, flags)
  }

  /// Whether at least one of these flags is set; false for none of them, unknown if the field is.
  @inlinable
  public func intersects(_ flags: Value) -> Condition<Element> {
    masked(flags).compared(.notEqual, [])
  }

  /// The flags that are set, of these.
  @inlinable
  func masked(_ flags: Value) -> Computed<Value, Element> {
    combined(.intersection, flags)
  }
}
