// GraphQLStorable: parts of responses that may contain entities.

/// Data of a response that contain entities of the program's schema, at any depth. Conformances are
/// generated.
public protocol GraphQLStorable {
  /// Hands every entity in it to a merge.
  func _store(in merge: GraphQLMerge) throws
}

extension Optional: GraphQLStorable where Wrapped: GraphQLStorable {
  /// Hands on what is in it.
  public func _store(in merge: GraphQLMerge) throws {
    if let self { try self._store(in: merge) }
  }
}

extension Array: GraphQLStorable where Element: GraphQLStorable {
  /// Hands on what is in it.
  public func _store(in merge: GraphQLMerge) throws { try merge.store(elements: self) }
}
