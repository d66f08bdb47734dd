// Compiler errors for bulk changes: keys of another type than the schema's, and a type beside a
// condition.

extension WriteContext {
  /// Keys of a wrong type: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      keys have the type of the schema's key field: convert them, as in \
      'keys: numbers.map(Int32.init)'
      """
  )
  @discardableResult
  public func update<Element: Atom, Keys: Sequence>(
    _ type: Element.Type, keys: Keys, _ change: (inout Element._Draft) throws -> Void
  ) throws -> BulkChange { unavailableCall() }

  /// Keys of a wrong type: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      keys have the type of the schema's key field: convert them, as in \
      'keys: numbers.map(Int32.init)'
      """
  )
  @discardableResult
  public func delete<Element: Atom, Keys: Sequence>(
    _ type: Element.Type, keys: Keys
  ) throws -> BulkChange { unavailableCall() }

  /// A type beside a condition: the compiler's error says so.
  @available(
    *, unavailable,
    message: "the condition has the type: write 'update(where: Post.likes > 3) { … }'"
  )
  @discardableResult
  public func update<Element: Atom>(
    _ type: Element.Type, where condition: some QueryExpression<Bool, Element>,
    _ change: (inout Element._Draft) throws -> Void
  ) throws -> BulkChange { unavailableCall() }

  /// A type beside a condition: the compiler's error says so.
  @available(
    *, unavailable,
    message: "the condition has the type: write 'delete(where: Post.likes > 3)'"
  )
  @discardableResult
  public func delete<Element: Atom>(
    _ type: Element.Type, where condition: some QueryExpression<Bool, Element>
  ) throws -> BulkChange { unavailableCall() }
}

extension ObjectQuery {
  /// Keys of a wrong type: the compiler's error says so.
  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      keys have the type of the schema's key field: convert them, as in \
      'missingKeys(of: numbers.map(Int32.init))'
      """
  )
  public func missingKeys<Keys: Sequence>(of keys: Keys) throws -> [Element.ID] {
    unavailableCall()
  }
}
