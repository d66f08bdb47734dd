// A compiler error for an object without a key.

extension Atom {
  /// Not a way to make an object: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      give the primary key and what the schema requires, as in 'Post(title: "first")'
      """
  )
  public init() { unavailableCall() }
}
