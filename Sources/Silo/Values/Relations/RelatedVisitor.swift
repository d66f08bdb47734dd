// RelatedVisitor: walks over the items of a value's relations.

/// Visits each item of a value's relations. For generated code.
public protocol RelatedVisitor {
  /// Visits an item.
  mutating func visit<V: Persistable>(_ item: RelatedItem<V>)
}

extension RelatedVisitor {
  /// Visits the items of any relation.
  public mutating func visit<R: ResolvableRelation>(_ relation: R) {
    for item in relation._items { visit(item) }
  }
}
