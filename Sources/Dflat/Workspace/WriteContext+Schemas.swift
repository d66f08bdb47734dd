// Changes of types of which only the schema is known. Tools make them.

extension WriteContext {
  /// Stores the values of rows of a type of which only the schema is known; see
  /// `upsert(contentsOf:)`. Rows of the dictionary's table are stored as they are: the workspace
  /// must not have used its dictionaries.
  ///
  /// - Parameters:
  ///   - schema: The schema of one of the transaction's types.
  ///   - rows: Rows of this type.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The same errors as `insert(contentsOf:)`.
  @discardableResult
  package func upsert(_ schema: EntitySchema, _ rows: [Row]) throws -> BulkChange {
    try requireUse(of: schema)
    if schema === DictionaryItem.schema { usesDictionary = true }
    return try transaction.upsertAll(schema, rows)
  }

  /// What the deletion of an object would do, by the rules of the references to it. Nothing is
  /// changed.
  ///
  /// - Parameters:
  ///   - row: The object.
  ///   - schema: The schema of one of the transaction's types.
  /// - Returns: The effects on each type that the rules reach, the object's own first.
  /// - Throws: `DeletionDenied`; `StorageError`; `WorkspaceError`.
  package func effects(ofDeleting row: Row, _ schema: EntitySchema) throws -> [DeletionEffect] {
    try requireUse(of: schema)
    return try transaction.effects(ofDeleting: row, schema)
  }

  /// Deletes an object, and follows the rules of the references to it.
  ///
  /// - Parameters:
  ///   - row: The object.
  ///   - schema: The schema of one of the transaction's types.
  /// - Throws: `DeletionDenied`; `StorageError`; `WorkspaceError`.
  package func delete(_ row: Row, _ schema: EntitySchema) throws {
    try requireUse(of: schema)
    try transaction.deleteFollowingRules(row, schema)
  }

  private func requireUse(of schema: EntitySchema) throws {
    if try !lists(schema) { throw WorkspaceError.undeclaredType(schema.layout.swiftName) }
  }
}
