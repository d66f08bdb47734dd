// Changes of types of which only the schema is known. Tools make them.

extension WriteContext {
  /// Stores the values of rows of a type of which only the schema is known; see
  /// `upsert(contentsOf:)`. Rows of the dictionary's table are stored as they are: the workspace
  /// must not have used its dictionaries.
  ///
  /// - Parameters:
  ///   - schema: The schema of one of the transaction's types.
  ///   - rows: Rows of this type.
  ///   - losesNothing: Whether an object that would lose what only a newer schema knows is refused
  ///     as an invalid value.
  /// - Returns: How many objects were inserted, updated, or had these values already.
  /// - Throws: The same errors as `insert(contentsOf:)`.
  @discardableResult
  package func upsert(
    _ schema: EntitySchema, _ rows: [Row], losingNothing losesNothing: Bool = false
  ) throws -> BulkChange {
    try requireUse(of: schema)
    if schema === DictionaryItem.schema { usesDictionary = true }
    return try transaction.upsertAll(schema, rows, losingNothing: losesNothing)
  }

  /// Calls `body`, which stores rows of a type. Whether their values are unique is checked when it
  /// returns. Until then nothing else reads or writes the type.
  ///
  /// - Parameters:
  ///   - schema: The schema of one of the transaction's types.
  ///   - body: Stores rows.
  /// - Returns: What `body` returns.
  /// - Throws: `ExchangeRefusal`; the errors of `body`. The closure of the transaction passes them
  ///   on, so that nothing is committed.
  package func withExchanges<R>(
    of schema: EntitySchema, _ body: (ExchangingUpserts) throws -> R
  ) throws -> R {
    try requireUse(of: schema)
    if schema === DictionaryItem.schema { usesDictionary = true }
    let upserts = ExchangingUpserts(transaction, schema)
    let result = try body(upserts)
    try upserts.finish()
    return result
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

  /// Throws if a type is not one of the transaction's.
  func requireUse(of schema: EntitySchema) throws {
    if try !lists(schema) { throw WorkspaceError.undeclaredType(schema.layout.swiftName) }
  }
}
