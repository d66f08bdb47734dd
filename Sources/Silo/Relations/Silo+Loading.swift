// Loading values with the values that they refer to.

extension Silos: RelatedSource {
  /// The values with some ids, in the order of the ids. Ids without a value are left out.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func _load<Value: Persistable>(
    _ ids: [Value.ID], of type: Value.Type
  ) async throws -> [Value] {
    try await self[type].load(ids)
  }
}

extension Silo {
  /// The values with some ids, with related values.
  ///
  ///     try await tasks.load(ids, resolving: \.owner, \.tags.all, \.owner[\.team])
  ///
  /// There is one query for each relation and level. Related values that are not stored stay
  /// unresolved.
  ///
  /// - Parameters:
  ///   - ids: The ids; those without a value are left out.
  ///   - paths: The relations.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load<each R: ResolvableRelation>(
    _ ids: some Sequence<Value.ID>,
    resolving paths: repeat any WritableKeyPath<Value, each R> & Sendable
  ) async throws -> [Value] {
    var values = try await load(ids)
    for path in repeat each paths {
      try await RelationPath(path: path)._resolve(&values, from: silos)
    }
    return values
  }

  /// The value with an id, with related values; nil if it is not stored.
  /// - Parameters:
  ///   - id: The id.
  ///   - paths: The relations.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  public func load<each R: ResolvableRelation>(
    _ id: Value.ID, resolving paths: repeat any WritableKeyPath<Value, each R> & Sendable
  ) async throws -> Value? {
    try await load(CollectionOfOne(id), resolving: repeat each paths).first
  }
}
