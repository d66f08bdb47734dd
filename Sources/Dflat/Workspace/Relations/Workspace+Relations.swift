// Queries for the objects that refer to an object.

extension Workspace {
  /// A query for the objects that refer to an object.
  ///
  ///     let latest = try dflat.query(author.posts).orderBy(Post.date.descending).first()
  ///
  /// - Parameter objects: The inverse of a reference, of an object.
  public func query<Element: Atom>(_ objects: RelatedObjects<Element>) -> ObjectQuery<Element> {
    query(Element.self).where(objects.objects)
  }
}

extension ReadContext {
  /// A query for the objects that refer to an object, in this snapshot.
  /// - Parameter objects: The inverse of a reference, of an object.
  public func query<Element: Atom>(_ objects: RelatedObjects<Element>) -> ObjectQuery<Element> {
    query(Element.self).where(objects.objects)
  }
}

extension WriteContext {
  /// A query for the objects that refer to an object, in the transaction's own view.
  /// - Parameter objects: The inverse of a reference, of an object. Its type is one of the
  ///   transaction's types; asking about another one throws `WorkspaceError`.
  public func query<Element: Atom>(_ objects: RelatedObjects<Element>) -> ObjectQuery<Element> {
    query(Element.self).where(objects.objects)
  }
}

extension Workspace {
  /// Calls `body` with each key in the references of a type that no object has.
  ///
  /// Nothing forbids such keys: an object may be stored before the one that it refers to, and the
  /// rule of a reference may be to keep the key. Their number, or their absence, is the program's
  /// business.
  ///
  ///     try dflat.danglingReferences(of: Post._schema) { print($0) }
  ///
  /// - Parameters:
  ///   - schema: The type whose objects are examined.
  ///   - body: Called in the order of the fields and rows. It must not use the workspace.
  /// - Throws: `StorageError`; `WorkspaceError`; the errors of `body`.
  public func danglingReferences(
    of schema: EntitySchema, _ body: (DanglingReference) throws -> Void
  ) throws {
    let core = _core
    try core.fetchWithinASnapshot { () throws in
      // In a transaction this also checks that it names the types.
      for reference in schema.references {
        try core.reading(Query(schema: reference.target), []) { _ in }
      }
      try core.reading(Query(schema: schema), []) { view in
        try view.forEachDanglingReference(of: schema, body)
      }
    }
  }
}
