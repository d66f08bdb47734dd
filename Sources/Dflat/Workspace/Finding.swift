// Finding one object by its primary key: in a workspace, and in `read` and `write`, where errors
// are thrown.

extension Workspace {
  /// The object with a primary key; nil if there is none.
  ///
  ///     let post = dflat.find(Post.self, "first")
  ///
  /// It sees the same state as `fetch(for:)` called here, and costs as much as a fetch by key. The
  /// object may be subscribed to.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The value of the single key field, or the `id` of such an object.
  /// - Returns: The object. On a storage error the result is nil, and the error goes to the
  ///   workspace's error hook.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) -> Element? {
    _core.row(of: type._schema, with: key).map { Element(_row: $0) }
  }

  /// The object with a primary key of several fields; nil if there is none.
  ///
  ///     let post = dflat.find(Post.self, ("notes", 7))
  ///     let same = dflat.find(Post.self, (site: "notes", number: 7))
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The values of the key fields, in the order of the schema. Labels are only for
  ///     readability: they are not checked.
  /// - Returns: The object. On a storage error the result is nil, and the error goes to the
  ///   workspace's error hook.
  public func find<Element: Atom, each Part>(
    _ type: Element.Type, _ key: (repeat each Part)
  ) -> Element? where Element.ID == CompositeKey<repeat each Part> {
    find(type, CompositeKey(repeat each key))
  }
}

extension ReadContext {
  /// The object with a primary key; nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The value of the single key field, or the `id` of such an object.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) throws -> Element? {
    try fetch(for: type).find(key)
  }

  /// The object with a primary key of several fields; nil if there is none.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The values of the key fields, in the order of the schema. Labels are only for
  ///     readability: they are not checked.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used after its closure has ended.
  public func find<Element: Atom, each Part>(
    _ type: Element.Type, _ key: (repeat each Part)
  ) throws -> Element? where Element.ID == CompositeKey<repeat each Part> {
    try find(type, CompositeKey(repeat each key))
  }
}

extension WriteContext {
  /// The object with a primary key, in the transaction's own view; nil if there is none.
  ///
  ///     guard let post = try txn.find(Post.self, "first") else { return }
  ///     try txn.update(post) { $0.priority += 1 }
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - key: The value of the single key field, or the `id` of such an object.
  /// - Throws: `StorageError`; `WorkspaceError` if the type is not in the list, or the context is
  ///   used after its closure has ended.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) throws -> Element? {
    try fetch(for: type).find(key)
  }

  /// The object with a primary key of several fields, in the transaction's own view; nil if there
  /// is none.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - key: The values of the key fields, in the order of the schema. Labels are only for
  ///     readability: they are not checked.
  /// - Throws: `StorageError`; `WorkspaceError` if the type is not in the list, or the context is
  ///   used after its closure has ended.
  public func find<Element: Atom, each Part>(
    _ type: Element.Type, _ key: (repeat each Part)
  ) throws -> Element? where Element.ID == CompositeKey<repeat each Part> {
    try find(type, CompositeKey(repeat each key))
  }
}

extension ThrowingQueryBuilder {
  fileprivate func find(_ key: Element.ID) throws -> Element? {
    try scope.requireOpen()
    guard let query = Query(Element._schema, key) else { return nil }
    return try builder.workspace.fetchRow(query).map { Element(_row: $0) }
  }
}
