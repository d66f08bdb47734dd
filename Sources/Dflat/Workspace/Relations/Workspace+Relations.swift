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
