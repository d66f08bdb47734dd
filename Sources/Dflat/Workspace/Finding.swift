// Finding one object by its primary key: in a workspace, and with errors thrown in `read` and `write`.

extension Workspace {
  /// The object that has a primary key; nil if none has it.
  ///
  ///     let post = dflat.find(Post.self, "first")
  ///
  /// It reads what `fetch(for:)` reads at this place, and costs what a fetch by key costs. The object may be subscribed to.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The value of the one key field, or what `id` of such an object is.
  /// - Returns: The object. An error of the storage gives nil and goes to the workspace's error hook.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) -> Element? {
    Query(type._schema, key).flatMap { _core.row($0) }.map { Element(_row: $0) }
  }

  /// The object that has a primary key of several fields; nil if none has it.
  ///
  ///     let post = dflat.find(Post.self, ("notes", 7))
  ///     let same = dflat.find(Post.self, (site: "notes", number: 7))
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The values of the key fields, in the order of the schema. Labels are for the reader: they are not checked.
  /// - Returns: The object. An error of the storage gives nil and goes to the workspace's error hook.
  public func find<Element: Atom, each Part>(
    _ type: Element.Type, _ key: (repeat each Part)
  ) -> Element? where Element.ID == CompositeKey<repeat each Part> {
    find(type, CompositeKey(repeat each key))
  }
}

extension ReadContext {
  /// The object that has a primary key; nil if none has it.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The value of the one key field, or what `id` of such an object is.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used too late.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) throws -> Element? {
    try fetch(for: type).find(key)
  }

  /// The object that has a primary key of several fields; nil if none has it.
  ///
  /// - Parameters:
  ///   - type: The entity type.
  ///   - key: The values of the key fields, in the order of the schema. Labels are for the reader: they are not checked.
  /// - Throws: `StorageError`; `WorkspaceError` if the context is used too late.
  public func find<Element: Atom, each Part>(
    _ type: Element.Type, _ key: (repeat each Part)
  ) throws -> Element? where Element.ID == CompositeKey<repeat each Part> {
    try find(type, CompositeKey(repeat each key))
  }
}

extension WriteContext {
  /// The object that has a primary key, in the transaction's own view; nil if none has it.
  ///
  ///     guard let post = try txn.find(Post.self, "first") else { return }
  ///     try txn.update(post) { $0.priority += 1 }
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - key: The value of the one key field, or what `id` of such an object is.
  /// - Throws: `StorageError`; `WorkspaceError` if the type is not in the list, or the context is used too late.
  public func find<Element: Atom>(_ type: Element.Type, _ key: Element.ID) throws -> Element? {
    try fetch(for: type).find(key)
  }

  /// The object that has a primary key of several fields, in the transaction's own view; nil if none has it.
  ///
  /// - Parameters:
  ///   - type: One of the transaction's types.
  ///   - key: The values of the key fields, in the order of the schema. Labels are for the reader: they are not checked.
  /// - Throws: `StorageError`; `WorkspaceError` if the type is not in the list, or the context is used too late.
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
