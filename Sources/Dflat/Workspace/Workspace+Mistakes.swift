// Compiler errors for transactions whose types or closure are written in another form, and for keys
// of a wrong type.

extension Workspace {
  /// Not a way to run a transaction: the compiler's error says so.
  @available(
    *, unavailable,
    message: "name the types without brackets: 'write(Post.self, Author.self) { txn in … }'"
  )
  @discardableResult
  public func write<R>(
    _ types: [Any.Type], attempts: Int? = nil, body: (WriteContext) throws -> R
  ) async throws -> R { unavailableCall() }

  /// Not a way to run a transaction: the compiler's error says so.
  @available(
    *, unavailable,
    message: "name the types without brackets: 'write(Post.self, Author.self) { txn in … }'"
  )
  @discardableResult
  public func write<R>(
    _ types: [Any.Type], attempts: Int? = nil, body: (WriteContext) throws -> R
  ) throws -> R { unavailableCall() }

  /// Not a way to run a transaction: the compiler's error says so.
  @available(
    *, unavailable,
    message: "a transaction has a closure: 'write(Post.self) { txn in try txn.insert(post) }'"
  )
  public func write<each Element: Atom>(
    _ types: repeat (each Element).Type, attempts: Int? = nil
  ) async throws { unavailableCall() }

  /// Not a way to run a transaction: the compiler's error says so.
  @available(
    *, unavailable,
    message:
      "objects are stored by a transaction: 'write(Post.self) { txn in try txn.insert(post) }'"
  )
  public func write<each Element: Atom>(
    _ objects: repeat each Element, attempts: Int? = nil
  ) async throws { unavailableCall() }

  /// Not a way to run a transaction: the compiler's error says so.
  @available(
    *, unavailable,
    message: "the types are a list: 'performChanges([Post.self, Author.self]) { txn in … }'"
  )
  public func performChanges<each Element: Atom>(
    _ types: repeat (each Element).Type, changesHandler: @escaping ChangesHandler,
    completionHandler: CompletionHandler? = nil
  ) { unavailableCall() }

  /// A key of a wrong type: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a key has the type of the schema's key field, as in 'find(Post.self, Int32(number))', \
      several are in its order: 'find(Post.self, ("notes", 7))'; \
      for other fields write 'fetch(for: Post.self).where(…).first'
      """
  )
  public func find<Element: Atom, Key>(
    _ type: Element.Type, _ key: Key
  ) -> Element? { unavailableCall() }
}

extension ReadContext {
  /// A key of a wrong type: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a key has the type of the schema's key field, as in 'find(Post.self, Int32(number))', \
      several are in its order: 'find(Post.self, ("notes", 7))'; \
      for other fields write 'fetch(for: Post.self).where(…).first'
      """
  )
  public func find<Element: Atom, Key>(
    _ type: Element.Type, _ key: Key
  ) throws -> Element? { unavailableCall() }
}

extension WriteContext {
  /// A key of a wrong type: the compiler's error says so.
  @available(
    *, unavailable,
    message: """
      a key has the type of the schema's key field, as in 'find(Post.self, Int32(number))', \
      several are in its order: 'find(Post.self, ("notes", 7))'; \
      for other fields write 'fetch(for: Post.self).where(…).first'
      """
  )
  public func find<Element: Atom, Key>(
    _ type: Element.Type, _ key: Key
  ) throws -> Element? { unavailableCall() }
}
